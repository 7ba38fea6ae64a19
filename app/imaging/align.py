"""Geometry of a face's own picture: a square around the head, turned upright by the eye line.

Everything is pure. Coordinates are continuous pixels with (0, 0) at the upper left corner of the upper left pixel;
OpenCV counts from pixel centres, half a pixel further in, which ``_for_opencv`` takes care of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

from app.types import Box, Face, Point, RgbImage

Affine = npt.NDArray[np.float64]
"""(2, 3) float64: [A | t], maps column (x, y) to A (x, y) + t."""

SIDE_FACTOR: Final = 2.0
"""Side of the crop in face widths: hair, ears and chin with some air. docs/decisions/0002-faces.md compares others."""

CENTRE_HEIGHT: Final = 0.42
"""The crop's centre as a share of the box's height: above its middle, because hair grows upwards."""

_SHRINK_ABOVE: Final = 1.25
"""Source pixels per pixel from which on interpolation between neighbours alone would alias."""


@dataclass(frozen=True, slots=True)
class FaceCrop:
    """A square in the picture, turned by ``angle``.

    centre: in pixels of the picture. side: in pixels. angle: radians, clockwise as seen on the screen; the angle of
    the line from the person's right eye to the left one.
    """

    centre: Point
    side: float
    angle: float

    def to_picture(self, size: int) -> Affine:
        """(2, 3) float64: from pixels of the crop resampled to ``size`` x ``size`` to pixels of the picture."""
        step = self.side / size
        turn = step * np.array([[math.cos(self.angle), -math.sin(self.angle)],
                                [math.sin(self.angle), math.cos(self.angle)]])  # fmt: skip
        centre = np.array([self.centre.x, self.centre.y])
        return np.column_stack([turn, centre - turn @ np.array([size / 2, size / 2])])

    def corners(self) -> npt.NDArray[np.float64]:
        """(4, 2) float64: the corners (x, y) in pixels of the picture, clockwise from the crop's upper left."""
        return transform(self.to_picture(1), np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))


def eye_angle(face: Face) -> float:
    """Radians by which the face is turned clockwise; 0 where the eyes are level."""
    return math.atan2(face.left_eye.y - face.right_eye.y, face.left_eye.x - face.right_eye.x)


def plan_crop(face: Face, side_factor: float = SIDE_FACTOR, centre_height: float = CENTRE_HEIGHT) -> FaceCrop:
    """The upright square around ``face``: ``side_factor`` box widths wide, centred at ``centre_height`` of the box.

    The box's height is measured along the face, so that a tilted head is centred like an upright one.
    """
    angle = eye_angle(face)
    rise = (0.5 - centre_height) * face.box.height
    centre = Point(
        face.box.x + face.box.width / 2 + rise * math.sin(angle),
        face.box.y + face.box.height / 2 - rise * math.cos(angle),
    )
    return FaceCrop(centre=centre, side=side_factor * face.box.width, angle=angle)


def extract(picture: RgbImage, crop: FaceCrop, size: int) -> RgbImage:
    """The crop, (size, size, 3) uint8, resampled without aliasing; outside the picture its mirror image goes on."""
    window = _window(crop, picture.shape[1], picture.shape[0])
    x0, y0, x1, y1 = window
    part = picture[y0:y1, x0:x1]
    to_part = shifted(crop.to_picture(size), -x0, -y0)
    part, to_part = _shrunk(part, to_part, crop.side / size)
    return _warped(part, to_part, size, size, cv2.BORDER_REFLECT_101)


def put_back(layer: RgbImage, to_layer: Affine, width: int, height: int) -> RgbImage:
    """``layer`` as seen through ``to_layer``, (height, width, 3) uint8, resampled without aliasing.

    to_layer: (2, 3) float64, from pixels of the result to pixels of ``layer``. Outside the layer its edge goes on.
    """
    ratio = float(np.hypot(*to_layer[:, 0]))
    layer, to_layer = _shrunk(layer, to_layer, ratio)
    return _warped(layer, to_layer, width, height, cv2.BORDER_REPLICATE)


def averaged(picture: RgbImage, ratio: float) -> tuple[RgbImage, float, float]:
    """``picture`` about ``ratio`` (1 or more) times smaller, without aliasing, and how much it was scaled by (x, y).

    By halves first, for which OpenCV has a path thirty times as fast as for other ratios; an odd last row or column
    is left out there, so that the scale is exact.
    """
    sx = sy = 1.0
    while ratio >= 2 and min(picture.shape[:2]) >= 2:
        height, width = picture.shape[0] // 2, picture.shape[1] // 2
        picture = _area(picture[: 2 * height, : 2 * width], width, height)
        sx, sy, ratio = sx / 2, sy / 2, ratio / 2
    height, width = picture.shape[:2]
    small_width, small_height = max(1, round(width / ratio)), max(1, round(height / ratio))
    if (small_width, small_height) == (width, height):
        return picture, sx, sy
    return _area(picture, small_width, small_height), sx * small_width / width, sy * small_height / height


def transform(affine: Affine, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, 2) float64 points (x, y) through ``affine``."""
    return np.asarray(points @ affine[:, :2].T + affine[:, 2], np.float64)


def shifted(affine: Affine, dx: float, dy: float) -> Affine:
    """``affine`` followed by a shift of its result by (dx, dy) pixels."""
    return np.column_stack([affine[:, :2], affine[:, 2] + np.array([dx, dy])])


def scaled(affine: Affine, sx: float, sy: float) -> Affine:
    """``affine`` followed by a scaling of its result by ``sx`` across and ``sy`` down."""
    return np.asarray(affine * np.array([[sx], [sy]]), np.float64)


def inverted(affine: Affine) -> Affine:
    """The map back."""
    inverse = np.linalg.inv(affine[:, :2])
    return np.column_stack([inverse, -inverse @ affine[:, 2]])


def bounds(points: npt.NDArray[np.float64], width: int, height: int) -> tuple[int, int, int, int]:
    """Whole-pixel (x0, y0, x1, y1) around ``points``, clipped to a picture of width x height; x1 <= x0 if outside."""
    low = np.floor(points.min(axis=0)).astype(int)
    high = np.ceil(points.max(axis=0)).astype(int)
    return max(0, low[0]), max(0, low[1]), min(width, high[0]), min(height, high[1])


def square_box(centre: Point, side: float) -> Box:
    """The upright square of ``side`` pixels around ``centre``."""
    return Box(centre.x - side / 2, centre.y - side / 2, side, side)


def _window(crop: FaceCrop, width: int, height: int) -> tuple[int, int, int, int]:
    margin = 3 * max(1.0, crop.side / 512)  # what cubic interpolation reaches for beyond the corners
    corners = crop.corners()
    around = np.concatenate([corners - margin, corners + margin])
    x0, y0, x1, y1 = bounds(around, width, height)
    if x1 <= x0 or y1 <= y0:
        raise ValueError("the crop lies outside the picture")
    return x0, y0, x1, y1


def _shrunk(part: RgbImage, to_part: Affine, ratio: float) -> tuple[RgbImage, Affine]:
    """``part`` averaged down to about one of its pixels per wanted one, and the map into it."""
    if ratio <= _SHRINK_ABOVE:
        return part, to_part
    small, sx, sy = averaged(part, ratio)
    return small, scaled(to_part, sx, sy)


def _area(picture: RgbImage, width: int, height: int) -> RgbImage:
    return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def _warped(source: RgbImage, to_source: Affine, width: int, height: int, border: int) -> RgbImage:
    flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    warped = cv2.warpAffine(source, _for_opencv(to_source), (width, height), flags=flags, borderMode=border)
    return np.asarray(warped, np.uint8)


def _for_opencv(affine: Affine) -> Affine:
    """The same map between coordinates that put 0 at the centre of the first pixel."""
    half = np.array([0.5, 0.5])
    return np.column_stack([affine[:, :2], affine[:, 2] + affine[:, :2] @ half - half])
