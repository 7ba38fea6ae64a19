"""What a container's header says, and the pixels that can be had from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

USUALLY_HELD: Final = 6.0
"""Bytes a pixel that a decoder may hold at its peak: four for Pillow's RGBA, and what comes on top of them."""

Rows: TypeAlias = Callable[[int, int], Image.Image]
"""(top, bottom) -> those rows of the decoded picture, in the picture's own mode."""


@dataclass(frozen=True, slots=True)
class Tone:
    """Which stored values are black (``low``) and white (``high``, which may be the lesser), where not 0 and 255."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Raster:
    """A decoded picture as stored: not turned, in its own mode and colours, ``width`` x ``height`` px.

    factor: by which the rows are still to be reduced. tone: for modes of more than 8 bits. key: the one stored value
    that means transparent, for those modes. array: the same pixels as (H, W, 3) uint8 where they lie in memory
    like that already; its owner may overwrite it.
    """

    width: int
    height: int
    rows: Rows
    factor: int = 1
    tone: Tone | None = None
    key: int | None = None
    array: npt.NDArray[np.uint8] | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """A picture whose header has been read and whose pixels have not.

    width, height: as stored, in pixels. orientation: 1 to 8 as in EXIF, still to be applied. icc: the embedded
    profile, unchecked. load: decodes; takes the factor (1, 2, 4 or 8) by which the caller wants the picture reduced.
    held: bytes that the decoder holds for each pixel at its peak, a picture reduced by 2 included. inks: bytes more for
    each pixel that a JPEG gives, where it has inks in place of colours.
    """

    width: int
    height: int
    load: Callable[[int], Raster]
    orientation: int = 1
    icc: bytes | None = None
    held: float = USUALLY_HELD
    inks: float = 0.0


def pillow_raster(image: Image.Image, factor: int, *, tone: Tone | None = None, key: int | None = None) -> Raster:
    """The raster of a Pillow picture, decoded now. Raises what Pillow's decoders raise."""
    image.load()
    width, height = image.size

    def rows(top: int, bottom: int) -> Image.Image:
        return image if (top, bottom) == (0, height) else image.crop((0, top, width, bottom))

    return Raster(width, height, rows, factor, tone, key)


def array_raster(array: npt.NDArray[np.uint8], mode: Literal["L", "RGB", "RGBA", "CMYK"], factor: int = 1) -> Raster:
    """The raster of an (H, W) or (H, W, C) array of samples in ``mode`` as Pillow means it: in CMYK, 0 is no ink."""
    height, width = array.shape[:2]

    def rows(top: int, bottom: int) -> Image.Image:
        return Image.frombytes(mode, (width, bottom - top), np.ascontiguousarray(array[top:bottom]).tobytes())

    return Raster(width, height, rows, factor, array=array if mode == "RGB" else None)
