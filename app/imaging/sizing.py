"""How large the answer is, and how a picture meets a network's needs.

Everything here is pure. Widths come before heights, as people say them; arrays are (H, W, 3) as numpy has them.
A picture is padded on its right and lower side only, by reflection, so cropping back is a slice and a tile's place
in the padded picture is its place in the picture.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from app.types import RgbImage

# A side is first averaged by the whole number that leaves it at least this many times too long: from 12 megapixels
# to 768 px that takes a third of the time of the Lanczos filter alone and is 0.3 of 255 off in the mean (measured).
# Whole numbers only, since averages of changing width make moire of fine stripes.
REDUCING_GAP: Final = 2

LANCZOS_REACH: Final = 3
"""Pixels of the answer that the filter looks to each side."""

WORTH_A_THREAD: Final = 100_000
"""Pixels of the answer from which on a second thread makes its lower half: a lone picture waits 4 to 9 ms less."""


@dataclass(frozen=True, slots=True)
class SizeRequirements:
    """What sides a network takes, in pixels. ``fixed`` is (width, height): these sides and no others."""

    multiple_of: int = 1
    minimum: int = 1
    fixed: tuple[int, int] | None = None

    def padded(self, width: int, height: int) -> tuple[int, int]:
        """The least (width, height) the network takes that holds a picture of this size.

        A picture larger than ``fixed`` keeps its sides: it is for tiles.
        """
        least = self.fixed or (self.minimum, self.minimum)
        return self._padded_side(width, least[0]), self._padded_side(height, least[1])

    def _padded_side(self, side: int, least: int) -> int:
        return round_up(max(side, least), self.multiple_of)


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of whole pixels: left and top are inside, right and bottom just outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Pixels."""
        return self.bottom - self.top

    def clipped(self, width: int, height: int) -> Area:
        """The part inside a picture of this size."""
        return Area(self.left, self.top, min(self.right, width), min(self.bottom, height))


def round_up(length: int, step: int) -> int:
    """The least multiple of ``step`` that is at least ``length``."""
    return -(-length // step) * step


def plan_size(width: int, height: int, longest: int | None) -> tuple[int, int]:
    """(width, height) of the answer: longest side at most ``longest``, never larger than the picture, ratio kept.

    None keeps the size. Each side is at least 1 px, however thin the picture. Raises ValueError below 1 px.
    """
    if min(width, height) < 1 or (longest is not None and longest < 1):
        raise ValueError(f"No picture is {width} x {height} px or has a longest side of {longest} px.")
    side = max(width, height)
    if longest is None or side <= longest:
        return width, height
    return _scaled(width, longest, side), _scaled(height, longest, side)


def _scaled(length: int, numerator: int, denominator: int) -> int:
    # Whole numbers, halves upwards: the same answer on every machine.
    return max(1, (2 * length * numerator + denominator) // (2 * denominator))


def resize(image: RgbImage, width: int, height: int) -> RgbImage:
    """``image`` at (width, height) by an antialiased Lanczos filter; the picture itself where nothing changes.

    Takes an alpha mask (H, W) as well.
    """
    if image.shape[:2] == (height, width):
        return image
    full_height, full_width = image.shape[:2]
    across, down = (max(1, full_width // (width * REDUCING_GAP)), max(1, full_height // (height * REDUCING_GAP)))
    # The last average may reach past the picture: what it is of says how much of it is picture.
    return _filtered(_averaged(image, across, down), full_width / across, full_height / down, width, height)


def _filtered(image: RgbImage, across: float, down: float, width: int, height: int) -> RgbImage:
    """The upper left ``across`` x ``down`` of ``image`` at (width, height): the same to 1/255, divided or not."""
    result = np.empty((height, width, *image.shape[2:]), np.uint8)
    scale = down / height

    def fill(top: int, bottom: int) -> None:
        first = max(0, math.floor((top - LANCZOS_REACH) * scale) - 1) if scale > 1 else 0
        last = min(len(image), math.ceil((bottom + LANCZOS_REACH) * scale) + 1) if scale > 1 else len(image)
        box = (0, top * scale - first, across, bottom * scale - first)
        seen = Image.fromarray(image[first:last])
        result[top:bottom] = seen.resize((width, bottom - top), Image.Resampling.LANCZOS, box)

    # Pillow goes down before it goes across where a picture is so tall, and its halves would not be.
    tall = image.shape[0] > 2 * image.shape[1]
    if tall or width * height < WORTH_A_THREAD:
        fill(0, height)
        return result
    with ThreadPoolExecutor(1) as second:
        lower = second.submit(fill, height // 2, height)
        fill(0, height // 2)
        lower.result()
    return result


def _averaged(image: RgbImage, across: int, down: int) -> RgbImage:
    # OpenCV works on the array itself: Pillow would first copy a large photo at four bytes a pixel.
    if across == down == 1:
        return image
    height, width = image.shape[:2]
    image = window(image, Area(0, 0, round_up(width, across), round_up(height, down)))
    size = (image.shape[1] // across, image.shape[0] // down)
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def reflected_index(length: int, padded: int) -> npt.NDArray[np.intp]:
    """(padded,) the pixel of an axis of ``length`` seen at each place of the padded axis.

    Reflection about the last pixel, which is not repeated, to and fro as often as it takes: 0 1 2 | 1 0 1 2.
    """
    period = max(1, 2 * (length - 1))
    place = np.arange(padded) % period
    return np.minimum(place, period - place) if length > 1 else np.zeros(padded, np.intp)


def window(image: RgbImage, area: Area) -> RgbImage:
    """The pixels of ``area``, which may reach past the right and lower side of ``image``: there it is reflected."""
    height, width = image.shape[:2]
    inside = area.clipped(width, height)
    if inside == area:
        return image[area.top : area.bottom, area.left : area.right]
    rows = reflected_index(height, area.bottom)[area.top :]
    columns = reflected_index(width, area.right)[area.left :]
    # Only what lies outside goes by index: for whole pictures that would take milliseconds.
    down, across = max(0, inside.height), max(0, inside.width)
    result = np.empty((area.height, area.width, *image.shape[2:]), np.uint8)
    result[:down, :across] = image[area.top : inside.bottom, area.left : inside.right]
    result[:down, across:] = image[area.top : inside.bottom, columns[across:]]
    result[down:] = image[rows[down:]][:, columns]
    return result


def pad(image: RgbImage, requirements: SizeRequirements) -> RgbImage:
    """``image`` reflected on its right and lower side up to what the network takes."""
    height, width = image.shape[:2]
    return window(image, Area(0, 0, *requirements.padded(width, height)))


def crop(image: RgbImage, width: int, height: int) -> RgbImage:
    """The upper left (width, height) of ``image``: what :func:`pad` was given."""
    return image[:height, :width]
