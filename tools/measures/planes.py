"""Planes of numbers that several measures start from."""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from app.types import RgbImage

Plane: TypeAlias = npt.NDArray[np.float32]
"""(H, W) float32."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""(H, W): which pixels count."""


def luma(rgb: RgbImage) -> Plane:
    """Lightness in levels, 0 to 255, without rounding: 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601)."""
    return np.asarray(cv2.cvtColor(rgb.astype(np.float32), cv2.COLOR_RGB2GRAY), np.float32)


def slope(plane: Plane, sigma: float) -> Plane:
    """Length of the gradient in levels a pixel, after a Gaussian blur of ``sigma`` px that takes grain away."""
    blurred = cv2.GaussianBlur(plane, (0, 0), sigma)
    # Scharr's weights add up to 32 for a slope of one level a pixel.
    across, down = (cv2.Scharr(blurred, cv2.CV_32F, *axis) / 32 for axis in ((1, 0), (0, 1)))
    return np.hypot(across, down).astype(np.float32)
