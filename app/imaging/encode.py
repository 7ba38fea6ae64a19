"""A finished picture as a file: PNG, JPEG, WebP or AVIF, with no metadata at all. The colours are sRGB, unlabelled,
which is what every viewer assumes.

Times and sizes below are of one styled 768 x 560 portrait on two cores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from types import MappingProxyType
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt
import simplejpeg
from PIL import Image

from app.errors import InvalidOption
from app.types import AlphaMask, ImageFormat, RgbImage, UploadFormat

MIMETYPES: Final[Mapping[ImageFormat, str]] = MappingProxyType(
    {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp", "avif": "image/avif"}
)
FILE_SUFFIXES: Final[Mapping[ImageFormat, str]] = MappingProxyType(
    {"png": ".png", "jpeg": ".jpg", "webp": ".webp", "avif": ".avif"}
)
DEFAULT_QUALITIES: Final[Mapping[ImageFormat, int]] = MappingProxyType({"jpeg": 92, "webp": 90, "avif": 80})
"""Where ink lines show no ringing at twice the size: 42 to 45 dB. PNG is exact and has no quality."""

_NEAREST: Final[Mapping[UploadFormat, ImageFormat]] = MappingProxyType(
    {"gif": "png", "bmp": "png", "tiff": "png", "heif": "jpeg"}
)
_WITH_ALPHA: Final = frozenset({"png", "webp", "avif"})
_MAX_SIDES: Final[Mapping[ImageFormat, int]] = MappingProxyType(
    {"png": 2**31 - 1, "jpeg": 65_535, "webp": 16_383, "avif": 65_535}
)
_MAX_AVIF_PIXELS: Final = 4096 * 4096
"""libaom takes 34 bytes for each, whatever its settings: 570 MB for so many. The other formats take 3 to 6."""

_STRIP_PIXELS: Final = 1 << 20

# Runs of equal bytes only: the flat areas of a drawing are found, the search for longer matches is saved. 24 ms and
# 482 KiB, against 189 ms and 495 KiB for zlib's level 6 in Pillow.
_PNG_PARAMETERS: Final = (cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE)
# Halving the colour's resolution blurs coloured lines (a fifth less data, half again the error in colour).
_JPEG_SUBSAMPLING: Final = "444"
_AVIF_SUBSAMPLING: Final = "4:4:4"
# 16 ms and 41 KiB; method 4, the default, 44 ms and 40 KiB.
_WEBP_METHOD: Final = 2
# 19 ms and 42 KiB; speed 8 52 ms and 39 KiB, speed 6, the default, 239 ms.
_AVIF_SPEED: Final = 9


def answer_format(upload: UploadFormat) -> ImageFormat:
    """The format to answer an upload with when nobody asks for another: its own, or the nearest one we write."""
    return next((format for format in MIMETYPES if format == upload), None) or _NEAREST[upload]


def supports_alpha(format: ImageFormat) -> bool:
    """Whether transparency survives in ``format``."""
    return format in _WITH_ALPHA


def check_size(format: ImageFormat, width: int, height: int) -> None:
    """Raise InvalidOption, naming the formats that do, where ``format`` does not hold so large a picture."""
    if not _holds(format, width, height):
        larger = ", ".join(name for name in MIMETYPES if _holds(name, width, height))
        raise InvalidOption(option="format", value=format, allowed=larger)


def _holds(format: ImageFormat, width: int, height: int) -> bool:
    if format == "avif" and width * height > _MAX_AVIF_PIXELS:
        return False
    return max(width, height) <= _MAX_SIDES[format]


def encode(rgb: RgbImage, format: ImageFormat, *, quality: int | None = None, alpha: AlphaMask | None = None) -> bytes:
    """``rgb``, (H, W, 3) uint8 sRGB, as a file. The same arguments give the same bytes.

    quality: 1 to 100 (None: the format's default); PNG takes no notice of it. alpha: (H, W) uint8; ``rgb`` is then
    what it looks like on white, as ``decode`` gives it, and the white is taken out again, so that edges show no pale
    rim elsewhere. Raises as :func:`check_size`, and ValueError for alpha in a format without.
    """
    if alpha is not None and not supports_alpha(format):
        raise ValueError(f"{format} has no alpha")
    check_size(format, rgb.shape[1], rgb.shape[0])
    pixels = rgb if alpha is None else _with_alpha(rgb, alpha)
    return _ENCODERS[format](np.ascontiguousarray(pixels), quality or DEFAULT_QUALITIES.get(format, 0))


def _with_alpha(rgb: RgbImage, alpha: AlphaMask) -> npt.NDArray[np.uint8]:
    """(H, W, 4). In strips: the sums take four times the room of the picture."""
    height, width = alpha.shape
    rgba = np.empty((height, width, 4), np.uint8)
    step = max(1, _STRIP_PIXELS // width)
    for top in range(0, height, step):
        rows = slice(top, top + step)
        rgba[rows, :, :3] = _off_white(rgb[rows], alpha[rows])
        rgba[rows, :, 3] = alpha[rows]
    return rgba


def _off_white(rgb: RgbImage, alpha: AlphaMask) -> RgbImage:
    """The colours that give ``rgb`` when laid over white with ``alpha``; white where nothing is to be seen."""
    coverage = alpha[:, :, None].astype(np.float32)
    shade = (255 - rgb.astype(np.float32)) * (255 / np.maximum(coverage, 1))
    return np.asarray((255 - shade.clip(0, 255) * (coverage > 0)).round(), np.uint8)


def _png(pixels: npt.NDArray[np.uint8], _quality: int) -> bytes:
    swapped = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR if pixels.shape[2] == 3 else cv2.COLOR_RGBA2BGRA)
    written, file = cv2.imencode(".png", swapped, _PNG_PARAMETERS)
    if not written:
        raise OSError("OpenCV could not write a PNG")
    return file.tobytes()


def _jpeg(pixels: npt.NDArray[np.uint8], quality: int) -> bytes:
    return bytes(simplejpeg.encode_jpeg(pixels, quality, "RGB", _JPEG_SUBSAMPLING))


def _webp(pixels: npt.NDArray[np.uint8], quality: int) -> bytes:
    return _by_pillow(pixels, "WEBP", quality=quality, method=_WEBP_METHOD)


def _avif(pixels: npt.NDArray[np.uint8], quality: int) -> bytes:
    return _by_pillow(pixels, "AVIF", quality=quality, speed=_AVIF_SPEED, subsampling=_AVIF_SUBSAMPLING)


def _by_pillow(pixels: npt.NDArray[np.uint8], format: str, **parameters: int | str) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, format, **parameters)
    return file.getvalue()


_ENCODERS: Final[Mapping[ImageFormat, Callable[[npt.NDArray[np.uint8], int], bytes]]] = MappingProxyType(
    {"png": _png, "jpeg": _jpeg, "webp": _webp, "avif": _avif}
)
