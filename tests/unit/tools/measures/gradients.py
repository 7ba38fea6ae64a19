"""Made pictures for the tests of the measures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Levels = npt.NDArray[np.float64]
SIDE = 256


def places(side: int = SIDE) -> tuple[Levels, Levels]:
    """(x, y) of every pixel of a square."""
    y, x = np.mgrid[0:side, 0:side].astype(np.float64)
    return x, y


def ramps() -> dict[str, Levels]:
    """Gradients as photos have them: steep, gentle, slanting, round, dark."""
    x, y = places()
    return {
        "sky": 90 + 0.3 * y,
        "gentle": 120 + 0.12 * x,
        "slanting": 40 + 0.2 * x + 0.25 * y,
        "cheek": 210 - 0.35 * np.hypot(x - 90, y - 130),
        "night": 3 + 0.1 * x + 0.05 * y,
    }


def gray(levels: Levels) -> npt.NDArray[np.uint8]:
    """(H, W, 3) uint8 of levels from 0 to 255."""
    rounded = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
    return np.repeat(rounded[..., np.newaxis], 3, axis=2)


def cut_to(levels: Levels, bits: int) -> Levels:
    """``levels`` with no more than 2 ** bits different values."""
    last = 2**bits - 1
    return np.rint(levels / 255 * last) / last * 255


def noise(sigma: float, side: int = SIDE, seed: int = 0) -> Levels:
    """(side, side) Gaussian noise in levels."""
    return np.random.default_rng(seed).normal(0, sigma, (side, side))
