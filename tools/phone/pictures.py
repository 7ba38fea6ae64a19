"""Pictures of exactly one size: to calibrate on, to measure with, and to put into the bundle."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Final

import numpy as np

from app.imaging.sizing import resize
from app.types import RgbImage
from tools.measures.made import made_pictures
from tools.phone.sizes import Size
from tools.phone.trial import TrialPictures

SQUARE: Final = 32
"""Side of the color chart's squares in px: larger than what a network smooths over, so that a shift shows."""


def covering(rgb: RgbImage, size: Size) -> RgbImage:
    """The middle of ``rgb``, scaled so that it fills ``size`` and nothing is squashed."""
    width, height = size
    full_height, full_width = rgb.shape[:2]
    scale = max(width / full_width, height / full_height)
    scaled = resize(rgb, max(width, ceil(full_width * scale)), max(height, ceil(full_height * scale)))
    top, left = (scaled.shape[0] - height) // 2, (scaled.shape[1] - width) // 2
    return np.ascontiguousarray(scaled[top : top + height, left : left + width])


def color_chart(size: Size) -> RgbImage:
    """Red grows to the right, green downwards, blue changes by squares: a swap of channels or directions shows."""
    width, height = size
    rows, columns = np.mgrid[0:height, 0:width]
    blue = (rows // SQUARE + columns // SQUARE) % 2 * 255
    planes = (columns * 255 // max(width - 1, 1), rows * 255 // max(height - 1, 1), blue)
    return np.stack(planes, axis=-1).astype(np.uint8)


def trial_pictures(photos: Iterable[RgbImage], size: Size) -> TrialPictures:
    """The photos and the made gradients at ``size``."""
    return TrialPictures([covering(photo, size) for photo in photos], list(made_pictures(*size).values()))
