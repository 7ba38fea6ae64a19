"""JPEG (ITU-T T.81), also as the first picture of an MPO: the segments before the first scan, and its pixels.

The pixels come from libjpeg-turbo through simplejpeg: four to five times as fast as through Pillow on a phone's photo
and into three bytes a pixel, with its warnings reported. The warnings matter: libjpeg fills what a cut file lacks
with gray and calls it a warning, which Pillow and OpenCV swallow.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import simplejpeg
from PIL import JpegImagePlugin

from app.errors import BrokenImage, UnsupportedImage
from app.imaging.containers.upload import USUALLY_HELD, Raster, Upload, array_raster, pillow_raster
from app.imaging.exif import orientation

_SOI: Final = b"\xff\xd8"
_EOI: Final = b"\xff\xd9"
_SOS: Final = 0xDA
_APP0_JFIF: Final = 0xE0
_APP1_EXIF: Final = 0xE1
_APP2_ICC: Final = 0xE2
_APP14_ADOBE: Final = 0xEE
_COMMENT: Final = 0xFE
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SEQUENTIAL: Final = frozenset({0xC0, 0xC1, 0xC9})
# A marker with a length behind it: neither padding, nor a stuffed zero, nor one that stands alone (T.81 B.1.1.3).
_MARKER: Final = re.compile(rb"\xff[^\x00\x01\xd0-\xd8\xff]", re.DOTALL)
_MOST_SEGMENTS: Final = 4096
"""A profile may come in 255 of them, and 16 MiB of metadata in 256."""
# The application segments that say how the components are to be read; all others are metadata.
_METADATA: Final = frozenset({*range(0xE0, 0xF0), _COMMENT}) - {_APP0_JFIF, _APP14_ADOBE}

_MODES: Final[Mapping[int, Literal["L", "RGB", "CMYK"]]] = {1: "L", 3: "RGB", 4: "CMYK"}

_INKS_HELD: Final = 2.0
"""Bytes more a pixel: four inks beside three colours are seven bytes, and some of both is held twice in strips."""

_EXIF_SIGNATURE: Final = b"Exif\0\0"
_ICC_SIGNATURE: Final = b"ICC_PROFILE\0"

# A progressive picture has about ten scans, one of inks eighteen. Each can cost a pass over all pixels for a hundred
# bytes (libjpeg-turbo's "Two Issues with the JPEG Standard"), so their number is bounded: by the second where so many
# passes would go over more pixels than the last allows.
_MOST_SCANS: Final = 50
_MOST_SCANS_LARGE: Final = 20
_MOST_SCANNED_PIXELS: Final = 1_000_000_000

# libjpeg warnings about files whose picture is whole, by part of their text in libjpeg's jerror.h.
_HARMLESS: Final = (
    "extraneous bytes before marker",
    "Unknown Adobe color transform",
    "unknown JFIF revision",
    "Inconsistent progression sequence",
    "Invalid SOS parameters",
)
# TurboJPEG's own restriction, not libjpeg's: rare sampling factors are left to Pillow.
_RARE_SAMPLING: Final = "subsampling"


@dataclass(frozen=True, slots=True)
class _Segment:
    marker: int
    start: int
    body: int
    end: int


def open_upload(data: bytes) -> Upload:
    """Read the header. Raises BrokenImage, and UnsupportedImage for samples of other than 8 bits."""
    segments = list(_segments(data))
    if not segments or segments[-1].marker != _SOS:
        raise BrokenImage
    frame = next((segment for segment in segments if segment.marker in _FRAMES), None)
    if frame is None or frame.end - frame.body < 6:
        raise BrokenImage
    precision, height, width, components = struct.unpack_from(">BHHB", data, frame.body)
    if precision != 8:
        raise UnsupportedImage
    if _count_scans(data, segments[-1].start) > _most_scans(width * height):
        raise BrokenImage
    stream = _pixels_only(data, segments, components)
    return Upload(
        width,
        height,
        lambda factor: _load(stream, width, height, components, factor),
        orientation(_first_exif(data, segments)),
        _profile(data, segments),
        USUALLY_HELD if _in_one_scan(data, segments, components) else _held(data[frame.body + 6 : frame.end]),
        _INKS_HELD if _MODES.get(components) == "CMYK" else 0.0,
    )


def _held(components: bytes) -> float:
    """Bytes a pixel of a picture in several scans: libjpeg keeps all coefficients, two bytes each, and the samples.

    ``components``: for each its number, its sampling factors in one byte, and a byte more (T.81 B.2.2).
    """
    factors = [(byte >> 4, byte & 15) for byte in components[1::3]]
    largest = max((across for across, _ in factors), default=0) * max((down for _, down in factors), default=0)
    samples = sum(across * down for across, down in factors) / max(largest, 1)
    return 2 * samples + len(factors) / 4


def _segments(data: bytes) -> Iterator[_Segment]:
    """The segments up to and with the first start of scan. Junk between them is skipped, as libjpeg does.

    Raises BrokenImage for more of them than any writer makes: going over them would take seconds.
    """
    at = len(_SOI)
    for _ in range(_MOST_SEGMENTS):
        found = _MARKER.search(data, at)
        if found is None:
            return
        at, marker = found.start(), data[found.start() + 1]
        if marker == _EOI[1] or at + 4 > len(data):
            return
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        if end > len(data) or end < at + 4:
            return
        yield _Segment(marker, at, at + 4, end)
        if marker == _SOS:
            return
        at = end
    raise BrokenImage


def _count_scans(data: bytes, first: int) -> int:
    # Within coded data 0xFF is followed by 0x00 or a restart marker, so what looks like a start of scan is one.
    end = data.find(_EOI, first)
    return data.count(bytes((0xFF, _SOS)), first, end if end != -1 else len(data))


def _most_scans(pixels: int) -> int:
    return max(_MOST_SCANS_LARGE, min(_MOST_SCANS, _MOST_SCANNED_PIXELS // max(1, pixels)))


def _pixels_only(data: bytes, segments: list[_Segment], components: int) -> bytes:
    """The file without its metadata.

    Where one scan holds everything an end marker is added, so that a picture that lacks nothing else is not taken
    for cut. With several scans, only the end marker tells that none is missing.
    """
    kept = [data[item.start : item.end] for item in segments[:-1] if item.marker not in _METADATA]
    end = _EOI if _in_one_scan(data, segments, components) else b""
    return b"".join((_SOI, *kept, data[segments[-1].start :], end))


def _in_one_scan(data: bytes, segments: list[_Segment], components: int) -> bool:
    sequential = any(item.marker in _SEQUENTIAL for item in segments)
    return sequential and data[segments[-1].body] == components


def _first_exif(data: bytes, segments: list[_Segment]) -> bytes:
    for item in segments:
        if item.marker == _APP1_EXIF and data.startswith(_EXIF_SIGNATURE, item.body):
            return data[item.body : item.end]
    return b""


def _profile(data: bytes, segments: list[_Segment]) -> bytes | None:
    """The ICC profile from its numbered parts (ICC.1:2022 B.4), or None where parts are missing."""
    head = len(_ICC_SIGNATURE) + 2
    parts = sorted(
        (data[item.body + head - 2], data[item.body + head - 1], data[item.body + head : item.end])
        for item in segments
        if item.marker == _APP2_ICC and data.startswith(_ICC_SIGNATURE, item.body) and item.end - item.body > head
    )
    numbers = [number for number, _, _ in parts]
    if not parts or numbers != list(range(1, parts[0][1] + 1)):
        return None
    return b"".join(part for _, _, part in parts)


def _load(stream: bytes, width: int, height: int, components: int, factor: int) -> Raster:
    size = (math.ceil(width / factor), math.ceil(height / factor))
    mode = _MODES.get(components)
    if mode is None:
        raise BrokenImage
    try:
        pixels = _decode(stream, size, "GRAY" if mode == "L" else mode)
    except ValueError as error:
        if _RARE_SAMPLING in str(error):
            return _load_by_pillow(stream, size)
        raise
    if pixels.shape[1::-1] != size:
        raise BrokenImage
    if mode == "CMYK":
        # Stored inverted, by Adobe's custom, which readers assume with or without Adobe's marker.
        np.subtract(255, pixels, out=pixels)
    return array_raster(pixels[:, :, 0] if mode == "L" else pixels, mode)


def _decode(stream: bytes, size: tuple[int, int], colorspace: str) -> npt.NDArray[np.uint8]:
    """Decode to the smallest of libjpeg's scales that is no smaller than ``size``. ValueError: broken."""
    width, height = size
    try:
        return np.asarray(simplejpeg.decode_jpeg(stream, colorspace, min_width=width, min_height=height))
    except ValueError as error:
        if not any(text in str(error) for text in _HARMLESS):
            raise
    return np.asarray(simplejpeg.decode_jpeg(stream, colorspace, min_width=width, min_height=height, strict=False))


def _load_by_pillow(stream: bytes, size: tuple[int, int]) -> Raster:
    image = JpegImagePlugin.JpegImageFile(BytesIO(stream))
    image.draft(None, size)
    return pillow_raster(image, 1)
