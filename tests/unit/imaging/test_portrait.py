"""The frame of an avatar."""

from __future__ import annotations

import pytest

from app.imaging.portrait import FACE_HEIGHT, SIDE_FACTOR, portrait_box
from app.types import Box, Face, Point


def face(x: float, y: float, side: float) -> Face:
    return Face(Box(x, y, side, side), Point(x + 0.3 * side, y), Point(x + 0.7 * side, y), 0.9)


def test_with_room_all_round_the_face_sits_where_a_portrait_has_it() -> None:
    box = portrait_box(face(450, 400, 100), 1000, 1000)
    assert box.width == box.height == SIDE_FACTOR * 100
    assert box.x + box.width / 2 == pytest.approx(500, abs=1)
    assert box.y + FACE_HEIGHT * box.height == pytest.approx(450, abs=1)


@pytest.mark.parametrize(("x", "y"), [(-30, -40), (950, 20), (10, 960), (940, 930), (450, 300)])
@pytest.mark.parametrize("side", [40, 100, 900])
@pytest.mark.parametrize(("width", "height"), [(1000, 1000), (1000, 300), (60, 1000), (1, 1)])
def test_the_frame_is_a_square_of_whole_pixels_inside_the_picture(
    x: float, y: float, side: float, width: int, height: int
) -> None:
    box = portrait_box(face(x, y, side), width, height)
    assert box.width == box.height >= 1
    assert all(float(value).is_integer() for value in (box.x, box.y, box.width))
    assert box.x >= 0
    assert box.y >= 0
    assert box.x + box.width <= width
    assert box.y + box.height <= height


def test_at_the_rim_the_frame_is_moved_not_cut() -> None:
    assert portrait_box(face(0, 0, 100), 1000, 1000) == Box(0, 0, 260, 260)
