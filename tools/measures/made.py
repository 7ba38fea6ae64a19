"""Test pictures that are made: the gradients on which quantised networks fail first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from app.types import RgbImage

Shade: TypeAlias = npt.NDArray[np.float64]
"""(H, W) in [0, 1]."""

SKY: Final = ((64, 120, 200), (206, 224, 240))
"""sRGB from the zenith to the horizon."""

SKIN: Final = ((104, 66, 52), (240, 200, 176))
"""sRGB from the shaded side of a cheek to its light."""

DARK: Final = ((2, 3, 6), (44, 38, 52))
"""sRGB of a night, where steps show most."""

# Half a level of grain: what is made must have no bands of its own, and photos have none either.
_GRAIN: Final = 0.5
_SEED: Final = 1


def made_pictures(width: int, height: int) -> Mapping[str, RgbImage]:
    """The same pictures every time, (height, width, 3) uint8, by name: ``made sky``, ``made skin``, ``made dark``."""
    down, across = np.mgrid[0:height, 0:width].astype(np.float64) / max(width, height)
    return {
        "made sky": _mixed(SKY, 0.85 * down + 0.1 * across),
        "made skin": _mixed(SKIN, _cheek(across, down)),
        "made dark": _mixed(DARK, 0.5 * across + 0.4 * down),
    }


def _cheek(across: Shade, down: Shade) -> Shade:
    """A rounded body lit from above on the left: contours that run in every direction."""
    return np.asarray(np.exp(-2.2 * ((across - 0.35) ** 2 + (down - 0.3) ** 2)), np.float64)


def _mixed(ends: tuple[tuple[int, int, int], tuple[int, int, int]], shade: Shade) -> RgbImage:
    first, last = np.array(ends, np.float64)
    picture = first + np.clip(shade, 0, 1)[..., np.newaxis] * (last - first)
    grain = np.random.default_rng(_SEED).uniform(-_GRAIN, _GRAIN, picture.shape)
    return np.asarray(np.clip(np.rint(picture + grain), 0, 255), np.uint8)
