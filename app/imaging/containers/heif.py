"""HEIC and HEIF (ISO/IEC 23008-12), through libheif."""

from __future__ import annotations

from typing import Final

import pillow_heif
from PIL import Image

from app.errors import BrokenImage
from app.imaging.containers import bmff
from app.imaging.containers.upload import Raster, Tone, Upload

# Gray pictures of more than 8 bits come out in 16; colour is brought to 8 bits by libheif.
_GRAY16: Final = "I;16"


def open_upload(data: bytes) -> Upload:
    """Read the boxes. Raises what libheif's binding raises, and BrokenImage where no picture is in them.

    libheif turns and mirrors by the ``irot`` and ``imir`` properties; the EXIF orientation that phones write beside
    them says the same once more and must not be applied again (ISO/IEC 23008-12, 6.5.10 and annex A).
    """
    file = pillow_heif.open_heif(data)
    if not len(file):
        raise BrokenImage
    image = file[file.primary_index]
    icc = image.info.get("icc_profile")
    return Upload(
        *image.size,
        lambda factor: _load(image, factor),
        icc=icc if isinstance(icc, bytes) else None,
        held=_held(data),
    )


def _held(data: bytes) -> float:
    """Bytes a pixel: libheif's planes, what it makes of deep and of fully coloured ones on the way, the pixels, and the
    reduced picture. Measured alike."""
    alpha = bmff.has_alpha(data)
    planes = max((_planes(coding, alpha=alpha) for coding in bmff.codings(data)), default=6.0)
    return planes + (5 if alpha else 3.75)


def _planes(coding: bmff.Coding, *, alpha: bool) -> float:
    samples = 1 + alpha + 2 * coding.chroma
    return samples * (coding.bytes + (coding.bytes > 1) + (coding.chroma == 1))


def _load(image: pillow_heif.HeifImage, factor: int) -> Raster:
    stated = image.size
    image.load()
    data, stride, mode = memoryview(image.data), image.stride, image.mode
    width, height = image.size
    if (width, height) != stated:
        raise BrokenImage

    def rows(top: int, bottom: int) -> Image.Image:
        return Image.frombytes(mode, (width, bottom - top), data[top * stride : bottom * stride], "raw", mode, stride)

    return Raster(width, height, rows, factor, tone=Tone(0, 65535) if mode == _GRAY16 else None)
