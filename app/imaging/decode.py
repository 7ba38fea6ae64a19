"""An upload's bytes as an upright sRGB picture.

The steps: what kind is it by its content, what size does its header claim, then decode, bring the colours to 8-bit
sRGB on white, turn upright. Nothing global is changed, so any number of threads may decode at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from app.errors import (
    AnimeBoothError,
    BrokenImage,
    EmptyImage,
    FileTooLarge,
    TooManyPixels,
    UnsupportedImage,
)
from app.imaging.containers import avif, bmff, bmp, gif, heif, jpeg, png, tiff, webp
from app.imaging.containers.upload import USUALLY_HELD, Upload
from app.imaging.orientation import turn_upright, upright_size
from app.imaging.pixels import to_srgb
from app.imaging.sniff import sniff
from app.types import AlphaMask, RgbImage, UploadFormat

__all__ = ["DecodeLimits", "Decoded", "Seen", "decode", "look", "sniff"]

_MIB: Final = 1 << 20
_MEGAPIXEL: Final = 1_000_000
_GIVEN: Final = 4
"""Bytes a pixel of what decoding gives: colours and coverage."""
_REDUCTIONS: Final = (1, 2, 4, 8)

_OPENERS: Final[Mapping[UploadFormat, Callable[[bytes], Upload]]] = MappingProxyType(
    {
        "jpeg": jpeg.open_upload,
        "png": png.open_upload,
        "webp": webp.open_upload,
        "gif": gif.open_upload,
        "bmp": bmp.open_upload,
        "tiff": tiff.open_upload,
        "avif": avif.open_upload,
        "heif": heif.open_upload,
    }
)


@dataclass(frozen=True, slots=True)
class DecodeLimits:
    """What an upload may have at most: bytes, pixels (width x height) and pixels a side."""

    max_bytes: int = 16 * _MIB
    max_pixels: int = 50 * _MEGAPIXEL
    max_side: int = 20_000


@dataclass(frozen=True, slots=True)
class Decoded:
    """A picture ready to work on.

    rgb: (H, W, 3) uint8 sRGB, upright, on white where transparent. alpha: (H, W) uint8, or None where all is opaque.
    width, height: the upload's own upright size; ``rgb`` is smaller where decoding was reduced.
    """

    rgb: RgbImage
    alpha: AlphaMask | None
    format: UploadFormat
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What the header of an upload says, and what decoding it will take.

    width, height: of the upload, upright. decoded: (width, height) of what decoding gives. bytes: the most memory that
    decoding holds.
    """

    format: UploadFormat
    width: int
    height: int
    decoded: tuple[int, int]
    bytes: int


def look(data: bytes, limits: DecodeLimits, *, working_pixels: int | None = None) -> Seen:
    """What :func:`decode` with the same arguments has before it; no pixel is decoded. Raises the same errors."""
    format, upload, (width, height) = _open(data, limits)
    factor = _reduction(width * height, working_pixels)
    decoded = math.ceil(width / factor), math.ceil(height / factor)
    return Seen(format, width, height, decoded, math.ceil(_held(format, upload, decoded[0] * decoded[1])))


def _held(format: UploadFormat, upload: Upload, decoded: int) -> float:
    """Bytes that decoding ``upload`` to so many pixels holds at its peak."""
    stored = upload.width * upload.height
    if format != "jpeg":
        # What is given, with its coverage, and once more while it is turned upright.
        return upload.held * stored + _GIVEN * decoded * (1 if upload.orientation == 1 else 2)
    # Reduced while it is decoded. In several scans, which have a figure of their own, all coefficients are kept too.
    coefficients = upload.held * stored if upload.held != USUALLY_HELD else 0
    return coefficients + (USUALLY_HELD + upload.inks) * decoded


def decode(data: bytes, limits: DecodeLimits, *, working_pixels: int | None = None) -> Decoded:
    """Decode the first picture in ``data``.

    working_pixels: a picture with more pixels is reduced by 2, 4 or 8 a side, by the least of them that brings it to
    at most so many (so it keeps more than a quarter of them); None = never. JPEGs are reduced while they are decoded,
    which is faster and takes a fraction of the memory.

    Raises EmptyImage, FileTooLarge, TooManyPixels, UnsupportedImage and BrokenImage, all before or instead of any
    half-decoded picture.
    """
    format, upload, (width, height) = _open(data, limits)
    with _decoder_errors():
        raster = upload.load(_reduction(width * height, working_pixels))
        rgb, alpha = to_srgb(raster, upload.icc)
    orientation = upload.orientation
    # Both may hold the picture as it was stored, and turning takes as much again.
    del raster, upload
    return Decoded(
        turn_upright(rgb, orientation),
        None if alpha is None else turn_upright(alpha, orientation),
        format,
        width,
        height,
    )


def _open(data: bytes, limits: DecodeLimits) -> tuple[UploadFormat, Upload, tuple[int, int]]:
    """Kind, header and upright size, within the limits."""
    format = _identify(data, limits)
    with _decoder_errors():
        if format in ("avif", "heif"):
            _check_size(bmff.largest_claim(data) or (0, 0), limits)
        if format == "avif":
            _check_size(avif.largest_coded(data), limits, held=avif.held(data))
        upload = _OPENERS[format](data)
    size = upright_size(upload.width, upload.height, upload.orientation)
    _check_size(size, limits, held=upload.held)
    return format, upload, size


def _identify(data: bytes, limits: DecodeLimits) -> UploadFormat:
    if not data:
        raise EmptyImage
    if len(data) > limits.max_bytes:
        raise FileTooLarge(limit_mib=limits.max_bytes // _MIB)
    format = sniff(data)
    if format is None:
        raise UnsupportedImage
    return format


def _check_size(size: tuple[int, int], limits: DecodeLimits, *, held: float = USUALLY_HELD) -> None:
    width, height = size
    # Where the decoder holds a picture several times over, fewer pixels cost as much: 300 MB, by default.
    max_pixels = int(limits.max_pixels * USUALLY_HELD / max(held, USUALLY_HELD))
    if width * height > max_pixels or max(size) > limits.max_side:
        raise TooManyPixels(width=width, height=height, limit_mp=max_pixels // _MEGAPIXEL, limit_side=limits.max_side)


def _reduction(pixels: int, working_pixels: int | None) -> int:
    if working_pixels is None:
        return 1
    return next((factor for factor in _REDUCTIONS if pixels <= working_pixels * factor**2), _REDUCTIONS[-1])


@contextmanager
def _decoder_errors() -> Iterator[None]:
    """Whatever a decoder raises means that the bytes are not what they say; that is no fault of the service."""
    try:
        yield
    except AnimeBoothError:
        raise
    except Exception as error:
        # Pillow and the codecs raise OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, EOFError,
        # struct.error, OverflowError, RuntimeError and MemoryError on damaged files, in no documented order.
        raise BrokenImage from error
