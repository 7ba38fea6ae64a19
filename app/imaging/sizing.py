"""How large the answer is, how a picture meets a network's needs, and how it is cut into tiles.

Everything here is pure. Widths come before heights, as people say them; arrays are (H, W, 3) as numpy has them.
A picture is padded on its right and lower side only, by reflection, so cropping back is a slice and a tile's place
in the padded picture is its place in the picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from app.types import RgbImage, Weights

# Read sides of tiles are rounded up to this, so that pictures of many sizes share few tensor shapes: ONNX Runtime
# keeps memory for every shape it has met (onnxruntime#11627).
SHAPE_STEP: Final = 64

# A side is first averaged by the whole number that leaves it at least this many times too long: from 12 megapixels
# to 768 px that takes a third of the time of the Lanczos filter alone and is 0.3 of 255 off in the mean (measured).
# Whole numbers only, since averages of changing width make moire of fine stripes.
REDUCING_GAP: Final = 2

# The tile axis's own error, so that the sentence stands in one place.
_TILE_TOO_SMALL: Final = "A tile of {tile} px cannot hold a halo of {halo} px and a ramp of {ramp} px on both sides."


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


@dataclass(frozen=True, slots=True)
class Span:
    """One axis of a tile, in pixels of the padded picture.

    ``start`` to ``stop`` is read, ``keep_start`` to ``keep_stop`` is kept of the result. ``fade_in`` and
    ``fade_out`` are how many of the kept pixels at either end are shared with the tile before and after.
    """

    start: int
    stop: int
    keep_start: int
    keep_stop: int
    fade_in: int = 0
    fade_out: int = 0


@dataclass(frozen=True, slots=True)
class Tile:
    """A piece of the padded picture: read ``read``, keep ``keep`` of the result."""

    columns: Span
    rows: Span

    @property
    def read(self) -> Area:
        """What the network sees."""
        return Area(self.columns.start, self.rows.start, self.columns.stop, self.rows.stop)

    @property
    def keep(self) -> Area:
        """What of the result is used."""
        return Area(self.columns.keep_start, self.rows.keep_start, self.columns.keep_stop, self.rows.keep_stop)


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
    coarse = Image.fromarray(_averaged(image, across, down))
    # The last average may reach past the picture: the box says how much of it is picture.
    box = (0, 0, full_width / across, full_height / down)
    return np.asarray(coarse.resize((width, height), Image.Resampling.LANCZOS, box))


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


def plan_tiles(
    width: int, height: int, requirements: SizeRequirements, *, tile: int, halo: int, ramp: int = 0
) -> Iterator[Tile]:
    """Tiles that cover a picture of (width, height) px once padded, row by row.

    tile: longest read side in px (a network of fixed sides has its own). halo: px around the kept part that the
    network must see. ramp: px by which kept parts overlap, for a smooth blend; 0 where tiles are exact. All tiles
    of a picture read the same shape. They begin at multiples of ``multiple_of``, so that strided convolutions see
    the pixels in the same phase, and none reaches past the padded picture, so that a network's own zero padding
    lies where it lies for the whole. Raises ValueError where ``tile`` leaves nothing to keep.
    """
    across, down = requirements.padded(width, height)
    sides = requirements.fixed or (None, None)
    columns = plan_spans(across, requirements, tile=tile, halo=halo, ramp=ramp, fixed=sides[0])
    rows = plan_spans(down, requirements, tile=tile, halo=halo, ramp=ramp, fixed=sides[1])
    return (Tile(column, row) for row in rows for column in columns)


def plan_spans(
    length: int, requirements: SizeRequirements, *, tile: int, halo: int, ramp: int, fixed: int | None
) -> list[Span]:
    """One axis of :func:`plan_tiles`, ``length`` px long when padded."""
    step = requirements.multiple_of
    side = fixed or tile // step * step
    if length <= side:
        return [Span(0, length, 0, length)]
    overlap = 2 * halo + ramp
    if side - overlap < max(step, ramp):
        raise ValueError(_TILE_TOO_SMALL.format(tile=side, halo=halo, ramp=ramp))
    count = ceil((length - overlap) / ((side - overlap) // step * step))
    if fixed is None:
        side = _evened_side(length, count, overlap, side, requirements.minimum, step)
    starts = [(length - side) * number // (count - 1) // step * step for number in range(count)]
    return _kept(starts, side, length, ramp)


def _evened_side(length: int, count: int, overlap: int, most: int, least: int, step: int) -> int:
    # The same number of tiles, each no longer than it must be. A whole step more makes up for rounded starts.
    needed = ceil((length + (count - 1) * (overlap + step)) / count)
    return min(most, round_up(max(needed, least), max(SHAPE_STEP, step)) // step * step)


def _kept(starts: list[int], side: int, length: int, ramp: int) -> list[Span]:
    # Between two tiles the cut runs through the middle of what both have read; the ramp lies around it.
    cuts = [(later + earlier + side) // 2 for earlier, later in pairwise(starts)]
    begins = [0, *(cut - ramp // 2 for cut in cuts)]
    ends = [*(cut - ramp // 2 + ramp for cut in cuts), length]
    last = len(starts) - 1
    return [
        Span(start, start + side, begin, end, ramp if number else 0, ramp if number < last else 0)
        for number, (start, begin, end) in enumerate(zip(starts, begins, ends, strict=True))
    ]


def tile_weights(tile: Tile) -> Weights | None:
    """(keep height, keep width, 1) float32 in [0, 1]: how much of a tile covers what earlier tiles left there.

    None where the tile shares nothing. Laid down row by row with these weights, every pixel ends as the mean of
    its tiles weighted by the product of their cosine ramps, whatever their number, without an accumulator: the
    weight is the tile's own over the sum of those up to and with it.
    """
    spans = (tile.columns, tile.rows)
    if not any(span.fade_in or span.fade_out for span in spans):
        return None
    (rise_x, own_x), (rise_y, own_y) = (_ramps(span) for span in spans)
    own = own_y[:, None] * own_x
    before = (1 - rise_y)[:, None] + own_y[:, None] * (1 - rise_x)
    total = own + before
    weights: Weights = np.divide(own, total, out=np.zeros_like(own), where=total > 0)
    return weights[..., np.newaxis]


def _ramps(span: Span) -> tuple[Weights, Weights]:
    # The rising ramp at the start alone, and the tile's own weight: it falls at the end too.
    length = span.keep_stop - span.keep_start
    rise, fall = np.ones(length, np.float32), np.ones(length, np.float32)
    rise[: span.fade_in] = cosine_ramp(span.fade_in)
    fall[length - span.fade_out :] = 1 - cosine_ramp(span.fade_out)
    return rise, rise * fall


def cosine_ramp(length: int) -> Weights:
    """(length,) float32 rising from just above 0 to just below 1, flat at both ends; with its mirror it adds to 1."""
    centres = (np.arange(length, dtype=np.float32) + np.float32(0.5)) / max(length, 1)
    return ((1 - np.cos(np.pi * centres)) / 2).astype(np.float32)
