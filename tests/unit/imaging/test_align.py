"""Upright squares around faces, and the way back."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from app.imaging.align import (
    CENTRE_HEIGHT,
    SIDE_FACTOR,
    FaceCrop,
    averaged,
    extract,
    eye_angle,
    inverted,
    plan_crop,
    put_back,
    square_box,
    transform,
)
from app.types import Face, Point, RgbImage
from tests.unit.imaging.compare import assert_alike, assert_same


def turned_face(degrees: float, side: float = 100.0, x: float = 200.0, y: float = 180.0) -> Face:
    """A face around (x, y) turned clockwise on the screen, its eyes 15 % of the box above its middle."""
    a = math.radians(degrees)
    up = (math.sin(a) * 0.15 * side, -math.cos(a) * 0.15 * side)
    along = (math.cos(a) * 0.2 * side, math.sin(a) * 0.2 * side)
    right_eye = Point(x + up[0] - along[0], y + up[1] - along[1])
    left_eye = Point(x + up[0] + along[0], y + up[1] + along[1])
    return Face(square_box(Point(x, y), side), right_eye, left_eye, 0.9)


def waves(width: int, height: int) -> RgbImage:
    """A picture so smooth that resampling it twice changes nothing, and different everywhere."""
    y, x = np.mgrid[:height, :width]
    planes = [127 + 100 * np.sin(x / 19 + y / 47), 127 + 100 * np.cos(y / 23), 127 + 100 * np.sin((x - y) / 29)]
    return np.rint(np.stack(planes, axis=-1)).astype(np.uint8)


@pytest.mark.parametrize("degrees", [0, 35, -35, 90, 180, -100])
def test_in_the_crop_the_eyes_are_level_and_the_right_one_is_on_the_left(degrees: float) -> None:
    face = turned_face(degrees)
    to_crop = inverted(plan_crop(face).to_picture(512))
    right, left = transform(
        to_crop, np.array([[face.right_eye.x, face.right_eye.y], [face.left_eye.x, face.left_eye.y]])
    )
    assert right[1] == pytest.approx(left[1], abs=1e-6)
    assert right[0] < 256 < left[0]
    assert right[1] < 256
    assert math.degrees(eye_angle(face)) == pytest.approx(degrees)


def test_the_crop_is_as_wide_as_planned_and_sits_above_the_middle_of_the_box() -> None:
    face = turned_face(0)
    crop = plan_crop(face)
    assert crop.side == pytest.approx(SIDE_FACTOR * 100)
    assert crop.centre.x == pytest.approx(200)
    assert crop.centre.y == pytest.approx(face.box.y + CENTRE_HEIGHT * 100)


def test_of_a_face_on_its_side_the_crop_sits_towards_the_hair_not_towards_the_sky() -> None:
    crop = plan_crop(turned_face(90))
    assert crop.centre.x == pytest.approx(200 + (0.5 - CENTRE_HEIGHT) * 100)
    assert crop.centre.y == pytest.approx(180)


@pytest.mark.parametrize("degrees", [0, 35, -90])
@pytest.mark.parametrize("side", [60.0, 130.0])
def test_there_and_back_again_nothing_moves(degrees: float, side: float) -> None:
    picture = waves(400, 360)
    crop = plan_crop(turned_face(degrees, side))
    back = put_back(extract(picture, crop, 256), inverted(crop.to_picture(256)), 400, 360)
    inside = cv2.fillConvexPoly(np.zeros((360, 400), np.uint8), crop.corners().astype(np.int32), 1)
    inside = cv2.erode(inside, np.ones((7, 7), np.uint8)).astype(bool)
    assert inside.sum() > 5000
    # A shift of half a pixel would already be a mean of two levels here.
    assert_alike(back[inside], picture[inside], mean=0.8, shift=0.4)


def test_what_lies_outside_the_picture_is_never_black() -> None:
    white = np.full((200, 200, 3), 255, np.uint8)
    for x, y in ((0, 0), (200, 200), (0, 100), (100, 200)):
        crop = FaceCrop(Point(x, y), 180.0, math.radians(30))
        assert extract(white, crop, 128).min() >= 250


def test_what_lies_outside_mirrors_what_lies_inside() -> None:
    picture = waves(200, 200)
    crop = extract(picture, FaceCrop(Point(0.0, 100.0), 128.0, 0.0), 128)
    assert_same(crop[:, 64 - 60 : 64][:, ::-1], crop[:, 65 : 65 + 60])


def test_fine_patterns_shrink_to_their_mean_not_to_moire() -> None:
    y, x = np.mgrid[:1200, :1200]
    checks = np.repeat((((x + y) % 2) * 255).astype(np.uint8)[..., None], 3, axis=2)
    small = extract(checks, FaceCrop(Point(600.0, 600.0), 900.0, math.radians(20)), 128)
    assert_alike(small, np.full_like(small, 127), mean=8)


def test_a_crop_beside_the_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        extract(waves(100, 100), FaceCrop(Point(500.0, 50.0), 60.0, 0.0), 64)


@pytest.mark.parametrize("ratio", [1.0, 1.7, 2.0, 3.3, 9.0])
def test_averaging_says_by_how_much_it_scaled(ratio: float) -> None:
    width, height = 641, 479
    ramp = np.tile(np.linspace(0, 255, width)[None, :, None], (height, 1, 3)).astype(np.uint8)
    small, sx, sy = averaged(ramp, ratio)
    assert small.shape[1] == pytest.approx(width / ratio, rel=0.02)
    assert sy == pytest.approx(sx, rel=0.02)
    x = small.shape[1] // 2
    place = (x + 0.5) / sx
    assert float(small[small.shape[0] // 2, x, 0]) == pytest.approx(255 * (place - 0.5) / (width - 1), abs=1.0)


def test_averaging_a_strip_leaves_a_pixel() -> None:
    assert averaged(np.zeros((1, 3000, 3), np.uint8), 11.7)[0].shape[0] == 1
