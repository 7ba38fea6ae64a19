"""Grids: what is bound to the lattice of pixels rather than to what the picture shows, in flat areas.

Networks that shrink a picture by 8 and enlarge it again can leave squares of 8 px (blockiness) or a weave that repeats
every 2, 4 or 8 px (checkerboard). Both are counted where A is flat, and only as far as B has more of it than A.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np

from app.types import RgbImage
from tools.measures.planes import Mask, Plane, luma, slope

PERIOD: Final = 8
"""Pixels. Squares of 4 px repeat every 8 px as well, and of squares of 16 px half the edges lie at the same place."""

FLAT_SLOPE: Final = 1.5
"""Levels a pixel, below which A is flat."""

FLAT_SIGMA: Final = 1.5

REPEATS: Final = 4
"""Periods a side of the windows in which a weave is looked for: enough for a mean, and still one place."""

WINDOW: Final = PERIOD * REPEATS

FLAT_SHARE: Final = 0.9
"""Of a window, for it to count."""


def blockiness(a: RgbImage, b: RgbImage) -> float:
    """How much more B jumps at the edges of squares than elsewhere, beyond what A does there; in levels.

    Jumps between neighbouring pixels are averaged by their place modulo 8: edges of squares stand out from the median
    place. After Wang, Sheikh, Bovik: No-reference perceptual quality assessment of JPEG compressed images, ICIP
    2002, who compare jumps at the edges of squares with those inside. The worse of rows and columns.
    """
    first, second = luma(a), luma(b)
    flat = slope(first, FLAT_SIGMA) < FLAT_SLOPE
    return max(_jumps(first, second, flat), _jumps(first.T, second.T, flat.T))


def _jumps(a: Plane, b: Plane, flat: Mask) -> float:
    counted = flat[:, 1:] & flat[:, :-1]
    excess = np.where(counted, np.abs(np.diff(b)) - np.abs(np.diff(a)), 0)
    by_place = [
        excess[:, place::PERIOD].sum(dtype=np.float64) / max(1, np.count_nonzero(counted[:, place::PERIOD]))
        for place in range(PERIOD)
    ]
    return float(max(by_place) - np.median(by_place))


def checkerboard(a: RgbImage, b: RgbImage) -> float:
    """Root mean square of the weave of period 2, 4 or 8 px that B has beyond A's; in levels.

    What repeats every 8 px within a window, without what does not (noise) and what is smooth. The artefact and its
    name: Odena, Dumoulin, Olah: Deconvolution and checkerboard artifacts, Distill, 2016. 0 for pictures with
    no flat window of 32 px.
    """
    first, second = luma(a), luma(b)
    flat = _windows((slope(first, FLAT_SIGMA) < FLAT_SLOPE).astype(np.float32)).mean(axis=(1, 2, 3, 4)) >= FLAT_SHARE
    if not flat.any():
        return 0.0
    excess = _weave(second)[flat].mean() - _weave(first)[flat].mean()
    return float(np.sqrt(max(0.0, excess)))


def _weave(plane: Plane) -> Plane:
    """(windows,) mean square of what repeats in each window, freed of what noise would leave of itself in the mean."""
    # The box is a period wide, so that it holds nothing of the weave.
    smooth = cv2.blur(cv2.blur(plane, (PERIOD, PERIOD)), (PERIOD, PERIOD), anchor=(PERIOD // 2 - 1, PERIOD // 2 - 1))
    windows = _windows(plane - smooth)
    repeated = windows.mean(axis=(1, 3), keepdims=True)
    noise = np.square(windows - repeated).mean(axis=(1, 2, 3, 4)) / (REPEATS**2 - 1)
    return np.asarray(np.square(repeated).mean(axis=(1, 2, 3, 4)) - noise, np.float32)


def _windows(plane: Plane) -> Plane:
    """(windows, REPEATS, PERIOD, REPEATS, PERIOD): whole windows only, row by row."""
    down, across = plane.shape[0] // WINDOW, plane.shape[1] // WINDOW
    cut = plane[: down * WINDOW, : across * WINDOW].reshape(down, REPEATS, PERIOD, across, REPEATS, PERIOD)
    return cut.transpose(0, 3, 1, 2, 4, 5).reshape(-1, REPEATS, PERIOD, REPEATS, PERIOD)
