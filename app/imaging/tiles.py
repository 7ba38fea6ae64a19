"""How a picture too large for one run is cut into tiles, and how what comes of them is put together again. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Final

import numpy as np

from app.imaging.sizing import Area, SizeRequirements, round_up
from app.types import Weights

# Read sides of tiles are rounded up to this, so that pictures of many sizes share few tensor shapes: ONNX Runtime
# keeps memory for every shape it has met (onnxruntime#11627).
SHAPE_STEP: Final = 64

_TILE_TOO_SMALL: Final = "A tile of {tile} px cannot hold a halo of {halo} px and a ramp of {ramp} px on both sides."


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
