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

HALF_WIDTH: Final = 0.65
"""Half axis of the mask across the face, in half sides of the crop."""

HALF_HEIGHT: Final = 0.82
"""Half axis along the face."""

FEATHER: Final = 0.28
"""Outer share of the mask's radius over which it falls from 1 to 0."""


TONE_BLUR: Final = 0.15
"""Standard deviation of the blur that parts tone from detail, as a share of the window's longer side."""

_GRID: Final = 32
"""Cells along the longer side in which tones are compared: five to a standard deviation."""

_FLOOR: Final = 0.02
"""Weight of what lies outside the ellipse, so that a corner without any face has a tone as well."""


def ellipse_window(to_picture: Affine, width: int, height: int, margin: int = 0) -> tuple[int, int, int, int]:
    """Whole-pixel x0, y0, x1, y1 around the ellipse and ``margin`` px, clipped to a picture ``width`` x ``height``.

    to_picture: (2, 3) float64, from the crop's square [0, 1] to pixels. A face wholly outside gets an empty window.
    """
    middle = to_picture @ np.array([0.5, 0.5, 1.0])
    reach = np.hypot(to_picture[:, 0] * HALF_WIDTH / 2, to_picture[:, 1] * HALF_HEIGHT / 2)
    x0, y0 = np.floor(middle - reach - margin).astype(int)
    x1, y1 = np.ceil(middle + reach + margin).astype(int)
    x0, y0 = min(max(0, x0), width), min(max(0, y0), height)
    return int(x0), int(y0), int(max(x0, min(width, x1))), int(max(y0, min(height, y1)))


def ellipse_weights(to_crop: Affine, width: int, height: int) -> Weights:
    """(height, width) float32 in [0, 1]: 1 inside the face's ellipse, 0 outside it, smooth between.

    to_crop: (2, 3) float64, from pixels of the window to the crop's square [0, 1]. The feather is a share of the
    ellipse and so scales and turns with the face.
    """
    x = np.arange(width, dtype=np.float32) + 0.5
    y = (np.arange(height, dtype=np.float32) + 0.5)[:, None]
    a = to_crop.astype(np.float32)
    across = (a[0, 0] * x + a[0, 1] * y + (a[0, 2] - 0.5)) / (HALF_WIDTH / 2)
    down = (a[1, 0] * x + a[1, 1] * y + (a[1, 2] - 0.5)) / (HALF_HEIGHT / 2)
    return smooth_step((1.0 - np.sqrt(across * across + down * down)) / FEATHER)


def smooth_step(t: npt.NDArray[np.float32]) -> Weights:
    """0 below 0, 1 above 1, between them 6 t^5 - 15 t^4 + 10 t^3: slope and curvature vanish at both ends."""
    t = np.clip(t, 0.0, 1.0)
    return np.asarray(t * t * t * (t * (t * 6.0 - 15.0) + 10.0), np.float32)


def toned_step(face: RgbImage, surroundings: RgbImage, weights: Weights) -> Floats:
    """What to add to ``surroundings`` to see ``face`` in their broad tones, as seen through ``weights``.

    Broad means blurred by TONE_BLUR of the window; details stay the face's own. So the border has no step to show,
    skin stays as light or dark as the photo has it, and a mask or a scarf keeps its colour.
    """
    columns, rows = _grid(weights)
    step = np.asarray(cv2.subtract(face, surroundings, dtype=cv2.CV_32F), np.float32)
    seen = np.asarray(cv2.resize(weights, (columns, rows), interpolation=cv2.INTER_AREA) + _FLOOR, np.float32)
    cells = cv2.resize(step, (columns, rows), interpolation=cv2.INTER_AREA) * seen[..., None]
    blur = TONE_BLUR * _GRID
    broad = np.asarray(
        cv2.GaussianBlur(cells, (0, 0), blur) / cv2.GaussianBlur(seen, (0, 0), blur)[..., None], np.float32
    )
    height, width = weights.shape
    return np.asarray(step - cv2.resize(broad, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def stepped(image: RgbImage, step: Floats, share: Weights) -> RgbImage:
    """(H, W, 3) uint8: ``image`` plus ``step`` to ``share`` at each pixel, rounded to the nearest and saturated."""
    return np.asarray(cv2.add(image, cv2.multiply(step, _for_each_channel(share)), dtype=cv2.CV_8U), np.uint8)


def shaded(drawing: RgbImage, inked: RgbImage) -> RgbImage:
    """(H, W, 3) uint8: ``drawing`` with the luminance of ``inked``.

    The same amount is added to red, green and blue, so the colours stay those of the drawing.
    """
    step = np.asarray(cv2.subtract(_luminance(inked), _luminance(drawing), dtype=cv2.CV_32F), np.float32)
    return np.asarray(cv2.add(drawing, _for_each_channel(step), dtype=cv2.CV_8U), np.uint8)


def _grid(weights: Weights) -> tuple[int, int]:
    """(columns, rows) of the cells, about square, never more than pixels."""
    height, width = weights.shape
    longer = max(height, width)
    cells = min(_GRID, longer)
    return max(1, round(cells * width / longer)), max(1, round(cells * height / longer))


def _luminance(image: RgbImage) -> npt.NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)


def mix(photo: RgbImage, drawing: RgbImage, strength: float) -> RgbImage:
    """(H, W, 3) uint8: the photo at ``strength`` 0, the drawing at 1, evenly between."""
    if strength >= 1.0:
        return drawing
    return np.asarray(cv2.addWeighted(photo, 1.0 - strength, drawing, strength, 0.0), np.uint8)


def _for_each_channel(plane: Weights) -> Floats:
    return np.asarray(cv2.merge([plane, plane, plane]), np.float32)
