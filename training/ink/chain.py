"""The chain: a photo in, a drawing out, by local steps alone.

No step looks at the picture as a whole: a pixel of the answer depends on those at most `INFLUENCE` px away, so that
a small network can learn it.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from training.ink import flatten, grade, lines
from training.ink.structure import Plane, as_plane, find_flow

RgbImage = NDArray[np.uint8]

INFLUENCE = 96
"""Farther away than this, in px, nothing can count: the sum of the reaches of all steps. 30 px is what one sees."""

_INK_COLOUR = np.array([0.05, 0.035, 0.06], np.float32)
_INK_KEEPS = np.float32(0.22)
"""Lines are a dark violet that takes on this share of the paint beneath, as coloured pencils do in cel drawings."""


def draw(rgb: RgbImage) -> RgbImage:
    """A photo as a drawing: (H, W, 3) uint8 sRGB in and out, sides of 8 px at least; the same in, the same out.

    Made for pictures of about 512 px: lines are 1 to 3 px wide whatever the size. Raises ValueError for other arrays.
    """
    if rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3 or min(rgb.shape[:2]) < 8:
        raise ValueError(f"a picture is (H, W, 3) uint8 with sides of 8 at least, not {rgb.shape} {rgb.dtype}")
    lab = as_plane(cv2.cvtColor(rgb.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2LAB))
    gain = grade.dark_gain(lab[..., 0])[..., None]
    clean, paint = _paint(lab * gain)
    ink = _ink(clean, paint)
    paint = flatten.bring_back_features(paint, lab * gain, threshold=1.5, softness=2.5, calm=1.75)
    crisp = flatten.sharpen_edges(paint, sigma=1.5, push=1.2, threshold=0.8)
    crisp /= gain
    crisp[..., 0] = grade.soft_steps(crisp[..., 0], step=16, sharpness=5)
    return _with_ink(grade.colour(crisp), ink)


def _paint(lab: Plane) -> tuple[Plane, Plane]:
    """The picture without its noise, in which details still are, and the flat one."""
    flow = find_flow(lab, 2.0, 6)
    clean = flatten.smooth_by_flow(lab, flow, reach=4, tolerance=6.0, guide_blur=0.9)
    paint = flatten.smooth_by_flow(clean, flow, reach=5, tolerance=6.0)
    return clean, flatten.smooth_by_flow(paint, flow, reach=5, tolerance=5.0)


def _ink(clean: Plane, paint: Plane) -> Plane:
    """Thin lines for what is small, eyes above all, and wider ones for the contours of what is flat: (H, W), 0 to 1."""
    flow = find_flow(clean, 2.5, 8)
    detail = lines.line_response(clean[..., 0], flow, sigma=0.8, length=6)
    contour = lines.line_response(paint[..., 0], flow, sigma=1.2, length=8)
    return np.maximum(
        lines.ink_amount(detail, threshold=0.6, softness=1.2, calm=0.9, slim=0.15),
        lines.ink_amount(contour, threshold=0.35, softness=1.0, calm=1.1, slim=0.15),
    )


def _with_ink(lab: Plane, ink: Plane) -> RgbImage:
    """The paint in sRGB with the ink over it; ink never makes a place brighter."""
    rgb = np.clip(as_plane(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB)), 0, 1)
    dark = np.minimum(rgb * _INK_KEEPS + _INK_COLOUR, rgb)
    mixed = rgb + ink[..., None] * (dark - rgb)
    drawn: RgbImage = np.rint(np.clip(mixed, 0, 1) * 255).astype(np.uint8)
    return drawn
