"""A decoded picture, in whatever mode, as 8-bit sRGB on white and its alpha.

The work is done in strips of about a megapixel, so that no second copy of the picture is ever held.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image

from app.imaging.color import ToSrgb, plain_to_srgb, profile_to_srgb
from app.imaging.containers.upload import Raster, Tone
from app.types import AlphaMask, RgbImage

_STRIP_PIXELS: Final = 1 << 20
_PREMULTIPLIED: Final = {"La": "LA", "RGBa": "RGBA"}
_COLOR_MODES: Final = frozenset({"L", "RGB", "CMYK"})
_CLEAR: Final = np.uint8(0)
_OPAQUE: Final = np.uint8(255)

_Samples = npt.NDArray[np.generic]


def to_srgb(raster: Raster, icc: bytes | None) -> tuple[RgbImage, AlphaMask | None]:
    """(H, W, 3) uint8 sRGB, composited on white, and the (H, W) alpha, or None where all is opaque.

    Colours hidden under alpha 0 are gone from both. Raises what Pillow raises for pixels it cannot convert.
    """
    convert = profile_to_srgb(icc, _color_mode(raster))
    # RGB that lies in memory already is converted where it lies.
    in_place = raster.array if raster.factor == 1 else None
    if in_place is not None and convert is plain_to_srgb:
        return in_place, None
    width, height = math.ceil(raster.width / raster.factor), math.ceil(raster.height / raster.factor)
    rgb = np.empty((height, width, 3), np.uint8) if in_place is None else in_place
    alpha: AlphaMask | None = None
    for top, bottom in _strips(raster):
        colors, coverage = _strip_to_srgb(raster.rows(top, bottom), raster, convert)
        at = slice(top // raster.factor, top // raster.factor + len(colors))
        rgb[at] = colors
        if coverage is not None:
            alpha = np.full((height, width), _OPAQUE) if alpha is None else alpha
            alpha[at] = coverage
    return rgb, alpha


def _strips(raster: Raster) -> Iterator[tuple[int, int]]:
    """(top, bottom) of each strip; all but the last are whole multiples of the factor high."""
    step = max(1, _STRIP_PIXELS // raster.width // raster.factor) * raster.factor
    for top in range(0, raster.height, step):
        yield top, min(top + step, raster.height)


def _color_mode(raster: Raster) -> str:
    color, _ = _separate(raster.rows(0, 1), raster)
    return color.mode


def _strip_to_srgb(strip: Image.Image, raster: Raster, convert: ToSrgb) -> tuple[RgbImage, AlphaMask | None]:
    color, coverage = _separate(strip, raster)
    if coverage is None or coverage.getextrema() == (255, 255):
        # Reduced first: the conversion is the dearer of the two.
        return np.asarray(convert(_reduced(color, raster.factor))), None
    # Pillow's blend is rounded, in sRGB as browsers do it.
    on_white = Image.composite(convert(color), Image.new("RGB", color.size, "white"), coverage)
    return np.asarray(_reduced(on_white, raster.factor)), np.asarray(_reduced(coverage, raster.factor))


def _reduced(image: Image.Image, factor: int) -> Image.Image:
    # Pillow would copy the picture for a factor of 1.
    return image if factor == 1 else image.reduce(factor)


def _separate(strip: Image.Image, raster: Raster) -> tuple[Image.Image, Image.Image | None]:
    """Colours in mode L, RGB or CMYK, and coverage in mode L or None."""
    if raster.tone is not None:
        samples = np.asarray(strip)
        gray = Image.fromarray(_to_8_bits(samples, raster.tone))
        return gray, None if raster.key is None else Image.fromarray(np.where(samples == raster.key, _CLEAR, _OPAQUE))
    if strip.mode in _PREMULTIPLIED:
        strip = strip.convert(_PREMULTIPLIED[strip.mode])
    if strip.mode == "LA":
        return strip.getchannel("L"), strip.getchannel("A")
    if strip.has_transparency_data:
        strip = strip.convert("RGBA")
        return strip.convert("RGB"), strip.getchannel("A")
    if strip.mode == "1":
        return strip.convert("L"), None
    return (strip if strip.mode in _COLOR_MODES else strip.convert("RGB")), None


def _to_8_bits(samples: _Samples, tone: Tone) -> npt.NDArray[np.uint8]:
    """Samples of any depth, scaled so that ``tone.low`` becomes 0 and ``tone.high`` 255."""
    span = tone.high - tone.low
    if span == 0:
        return np.zeros(samples.shape, np.uint8)
    levels = (samples.astype(np.float32) - tone.low) * (255 / span)
    return np.asarray(np.nan_to_num(levels, nan=0, posinf=255, neginf=0).clip(0, 255).round(), np.uint8)
