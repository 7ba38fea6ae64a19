"""Laying a stylised face over stylised surroundings so that no border shows. Pure functions over small windows."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

from app.imaging.align import Affine
from app.types import RgbImage, Weights

Floats = npt.NDArray[np.float32]
"""(H, W, 3) float32, 0 to 255."""

HALF_WIDTH: Final = 0.62
"""Half axis of the mask across the face, in half sides of the crop."""

HALF_HEIGHT: Final = 0.78
"""Half axis along the face."""

FEATHER: Final = 0.28
"""Outer share of the mask's radius over which it falls from 1 to 0."""


def ellipse_weights(to_unit: Affine, width: int, height: int) -> Weights:
    """(height, width) float32 in [0, 1]: 1 inside the face's ellipse, 0 outside it, smooth between.

    to_unit: (2, 3) float64, from pixels of the window to the crop's own square, [-1, 1] across and down. The feather
    is a share of the ellipse and so scales and turns with the face.
    """
    x = np.arange(width, dtype=np.float32) + 0.5
    y = (np.arange(height, dtype=np.float32) + 0.5)[:, None]
    a = to_unit.astype(np.float32)
    across = (a[0, 0] * x + a[0, 1] * y + a[0, 2]) / HALF_WIDTH
    down = (a[1, 0] * x + a[1, 1] * y + a[1, 2]) / HALF_HEIGHT
    radius = np.sqrt(across * across + down * down)
    return smooth_step((1.0 - radius) / FEATHER)


def smooth_step(t: npt.NDArray[np.float32]) -> Weights:
    """0 below 0, 1 above 1, between them 6 t^5 - 15 t^4 + 10 t^3: slope and curvature vanish at both ends."""
    t = np.clip(t, 0.0, 1.0)
    return np.asarray(t * t * t * (t * (t * 6.0 - 15.0) + 10.0), np.float32)


def matched(face: Floats, surroundings: Floats, weights: Weights) -> Floats:
    """``face`` shifted in tone and contrast towards ``surroundings``, as both look under ``weights``."""
    ring = weights * (1.0 - weights)
    total = float(ring.sum())
    if total <= 0.0:
        return face
    offset = ((surroundings - face) * ring[..., None]).sum(axis=(0, 1)) / total
    return np.asarray(face + offset, np.float32)


def laid_over(image: RgbImage, surroundings: Floats, face: Floats, share: Weights) -> RgbImage:
    """(H, W, 3) uint8: ``image`` with its ``surroundings`` replaced by ``face`` to ``share``.

    ``image`` may already hold other faces; what ``share`` takes is taken from the surroundings alone.
    """
    return _to_bytes(image + (face - surroundings) * share[..., None])


def mix(photo: RgbImage, drawing: RgbImage, strength: float) -> RgbImage:
    """(H, W, 3) uint8: the photo at ``strength`` 0, the drawing at 1, evenly between."""
    if strength >= 1.0:
        return drawing
    return np.asarray(cv2.addWeighted(photo, 1.0 - strength, drawing, strength, 0.0), np.uint8)


def _to_bytes(values: Floats) -> RgbImage:
    # Rounds to the nearest and saturates in one pass.
    return np.asarray(cv2.add(values, 0.0, dtype=cv2.CV_8U), np.uint8)
