"""Whether two pictures have their lines in the same places."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np

from app.types import RgbImage
from tools.measures.planes import Mask

SIGMA: Final = 1.0
"""Blur in px before edges are looked for, so that grain is none."""

THRESHOLDS: Final = (50.0, 120.0)
"""Canny's, on gradients of the blurred gray picture."""


def edge_agreement(a: RgbImage, b: RgbImage) -> float:
    """F1 of B's edges against A's, a pixel of tolerance: 1 where all agree, 0 where none does.

    Edges after Canny: A computational approach to edge detection, IEEE PAMI 8(6), 1986. Two pictures without any
    agree.
    """
    first, second = _edges(a), _edges(b)
    if not first.any() and not second.any():
        return 1.0
    found, right = _share(first, near=second), _share(second, near=first)
    return 2 * found * right / (found + right) if found + right else 0.0


def _edges(rgb: RgbImage) -> Mask:
    gray = cv2.GaussianBlur(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), (0, 0), SIGMA)
    return np.asarray(cv2.Canny(gray, *THRESHOLDS, L2gradient=True), np.uint8) > 0


def _share(edges: Mask, near: Mask) -> float:
    """How many of ``edges`` have one of ``near`` beside them, as a share."""
    around = cv2.dilate(near.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return float(around[edges].mean()) if edges.any() else 0.0
