"""Banding: steps in B where A runs smoothly.

A step is where the means of two neighbouring stretches of a row or a column differ by far more than the pixels
within each do: two plateaus. A ramp is no step (its pixels differ as much within a stretch as between two), nor is
noise or dithering, nor a step that A has at the same place. Where A has edges nothing is counted. Stretches of
several lengths find narrow bands and wide ones, whose steps a network may have softened.

That banding is steps of small height between flat parts, seen at several scales, and that what is invisible in 8 bit
must not count, are the findings of Tandon et al.: CAMBI: contrast-aware multiscale banding index, 2021
(arXiv:2102.00079). That measure knows no A; this one does, and is simpler for it.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np

from app.types import RgbImage
from tools.measures.planes import Mask, Plane, luma, slope

STRETCHES: Final = (8, 16, 32)
"""Lengths in px of the stretches compared."""

STEPNESS: Final = 4.0
"""Least ratio of a step's height to the standard deviation within its stretches. A ramp has 3.5, a step that is
softened over six fifths of a stretch's length 4.2, noise less than 1."""

VISIBLE: Final = 1.0
"""Levels: steps of this height are what 8 bit itself makes of a ramp."""

SMOOTH_SLOPE: Final = 2.0
"""Levels a pixel: where A is steeper, it has an edge, not a gradient."""

SMOOTH_SIGMA: Final = 1.5

SMOOTH_SIDE: Final = 9
"""Pixels: A is smooth where a square of this side around a pixel has no edge."""

ACROSS: Final = 3
"""Rows (or columns) that a stretch is wide: in three at once no noise makes two plateaus."""

REACH: Final = 8
"""Px to either side of a step at which it still counts: people see the step, not the line it lies on."""


def banding(a: RgbImage, b: RgbImage) -> float:
    """Root mean square, over where A is smooth, of the height of B's new steps near each pixel; in levels.

    0 where B has none, or A is smooth nowhere. A gray ramp of a level every four pixels cut to 6 bit, which makes
    steps of 4 levels, reads about 2; to 5 bit about 4.
    """
    first, second = luma(a), luma(b)
    smooth = _smooth(first)
    steps = np.where(smooth, new_steps(first, second), np.float32(0))
    return _root_mean_square(_seen(steps), smooth)


def _smooth(a: Plane) -> Mask:
    steepest_near = cv2.dilate(slope(a, SMOOTH_SIGMA), np.ones((SMOOTH_SIDE, SMOOTH_SIDE), np.uint8))
    return np.asarray(steepest_near < SMOOTH_SLOPE, np.bool_)


def new_steps(a: Plane, b: Plane) -> Plane:
    """(H, W) height of the step B has at each pixel above that of A there and above what is visible; in levels."""
    heights = [_new_along_rows(a, b, length) for length in STRETCHES]
    heights += [_new_along_rows(a.T, b.T, length).T for length in STRETCHES]
    return np.asarray(np.maximum.reduce(heights), np.float32)


def _new_along_rows(a: Plane, b: Plane, length: int) -> Plane:
    height, ratio = _steps(b, length)
    known, _ = _steps(a, length)
    # A step that A has a little to the side is the same step.
    known_near = cv2.dilate(known, np.ones((1, 2 * length + 1), np.uint8))
    return np.where(ratio > STEPNESS, np.maximum(height - np.maximum(known_near, VISIBLE), 0), 0).astype(np.float32)


def _steps(plane: Plane, length: int) -> tuple[Plane, Plane]:
    """At each pixel: how far the means before and from it differ, and that over the deviation within the two."""
    before, from_here = (_stretch(plane, length, anchor) for anchor in (length, 0))
    height = np.abs(from_here[0] - before[0])
    within = np.sqrt(np.maximum(before[1] + from_here[1], 0) / 2)
    # A plateau of 8 bit is never more even than its rounding.
    return height, height / np.maximum(within, 12**-0.5)


def _stretch(plane: Plane, length: int, anchor: int) -> tuple[Plane, Plane]:
    """Mean and variance of ``length`` pixels of the row, ``anchor`` of them before the pixel itself."""
    shift = plane.mean()
    kernel = np.zeros((ACROSS, 2 * length + 1), np.float32)
    kernel[:, length - anchor : 2 * length - anchor] = 1 / (ACROSS * length)
    # Squares of small numbers, so that float32 keeps the variance.
    mean = cv2.filter2D(plane - shift, -1, kernel, borderType=cv2.BORDER_REFLECT_101)
    square = cv2.filter2D((plane - shift) ** 2, -1, kernel, borderType=cv2.BORDER_REFLECT_101)
    return np.asarray(mean, np.float32), np.asarray(square - mean**2, np.float32)


def _seen(steps: Plane) -> Plane:
    side = 2 * REACH + 1
    return np.asarray(cv2.dilate(steps, np.ones((side, side), np.uint8)), np.float32)


def _root_mean_square(heights: Plane, where: Mask) -> float:
    return float(np.sqrt(np.square(heights[where], dtype=np.float64).mean())) if where.any() else 0.0
