"""How far apart an input pixel and an output pixel may be and still have to do with each other: measured, not derived.

Noise is changed in one part of a picture, and the answers before and after are compared: equal input gives equal
output to the last bit, so any difference is influence. Strips keep it cheap: 1024 x 64 px is as much work as 256 x 256.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from app.imaging.sizing import SizeRequirements, round_up
from app.library.sides import noise
from app.types import Tensor

Run: TypeAlias = Callable[[Tensor], "Tensor | None"]
"""(H, W, 3) float32 through the network; None where it does not run."""

STRIP: Final = 1024
"""Pixels. As long as a tile: what reaches further could not be tiled exactly anyway."""

_STRIP_HEIGHT: Final = 64
_COMPARED: Final = 32
"""Pixels a side, at least, over which a piece is compared with the whole."""


@dataclass(frozen=True, slots=True)
class FarInfluence:
    """What noise at one end of a strip did to the answer at the other.

    change: the largest, in the numbers of the network's answer; 0 for none. beyond: px it was away at least.
    reach: px at which the last influence was seen, where ``change`` is 0.
    """

    change: float
    beyond: int
    reach: int


def upright(run: Run, *, down: bool) -> Run:
    """``run``, or, ``down`` the picture, ``run`` on its transpose: then columns of the result are its rows."""
    if not down:
        return run

    def turned(picture: Tensor) -> Tensor | None:
        answer = run(np.ascontiguousarray(picture.transpose(1, 0, 2)))
        return None if answer is None else answer.transpose(1, 0, 2)

    return turned


def strip(sizes: SizeRequirements, length: int, *, down: bool = False) -> tuple[int, int]:
    """(height, width) of a strip at least ``length`` px long that a network of ``sizes`` takes, before it is turned."""
    if sizes.fixed is not None:
        return sizes.fixed if down else sizes.fixed[::-1]
    height = round_up(max(_STRIP_HEIGHT, sizes.minimum), sizes.multiple_of)
    return height, round_up(max(length, height), sizes.multiple_of)


def far_influence(run: Run, shape: tuple[int, int], low: float, high: float) -> FarInfluence | None:
    """What the last sixteenth of a strip of ``shape`` does to its first half; None where it does not run."""
    height, width = shape
    edge = width - width // 16
    changed = _changes(run, *_pair(height, width, low, high, slice(edge, width)))
    if changed is None:
        return None
    half = width // 2
    first = int(np.argmax(changed > 0)) if changed.any() else edge
    return FarInfluence(float(changed[:half].max()), edge - half, max(edge - first, 0))


def edge_reach(run: Run, shape: tuple[int, int], edge: int, low: float, high: float) -> int:
    """The furthest influence over the line before column ``edge``, in px, both ways."""
    height, width = shape
    left = _changes(run, *_pair(height, width, low, high, slice(0, edge)))
    right = _changes(run, *_pair(height, width, low, high, slice(edge, width)))
    forwards = 0 if left is None or not left.any() else int(np.flatnonzero(left)[-1]) - (edge - 1)
    backwards = 0 if right is None or not right.any() else edge - int(np.flatnonzero(right)[0])
    return max(forwards, backwards, 0)


def piece_difference(run: Run, sizes: SizeRequirements, halo: int, low: float, high: float) -> float | None:
    """How far a piece of a picture, ``halo`` px inside, is from the same place in another piece of it.

    In parts of the answer's own range. The pieces begin ``multiple_of`` px apart both ways. None where nothing is
    left inside the halo, or it does not run.
    """
    step = sizes.multiple_of
    height, width = strip(sizes, 0) if sizes.fixed else (_square(sizes, halo),) * 2
    if min(height, width) <= 2 * halo + step:
        return None
    whole = noise(height + step, width + step, low, high)
    first, second = run(whole[:height, :width]), run(whole[step:, step:])
    if first is None or second is None:
        return None
    inside = slice(halo + step, height - halo), slice(halo + step, width - halo)
    same = slice(halo, height - halo - step), slice(halo, width - halo - step)
    return float(np.abs(first[inside] - second[same]).max() / max(float(np.ptp(first)), 1e-9))


def _square(sizes: SizeRequirements, halo: int) -> int:
    step = sizes.multiple_of
    return round_up(max(2 * halo + step + _COMPARED, sizes.minimum), step)


def _pair(height: int, width: int, low: float, high: float, columns: slice) -> tuple[Tensor, Tensor]:
    before = noise(height, width, low, high)
    after = before.copy()
    after[:, columns] = noise(height, width, low, high, seed=1)[:, columns]
    return before, after


def _changes(run: Run, before: Tensor, after: Tensor) -> npt.NDArray[np.float32] | None:
    """(width,) the largest change of the answer in each column; None where the network does not run."""
    first, second = run(before), run(after)
    if first is None or second is None:
        return None
    return np.asarray(np.abs(second - first).max(axis=(0, 2)), np.float32)
