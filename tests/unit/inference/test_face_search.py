"""Propose far off, confirm close by: shown with looks that see magenta squares as faces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import cv2
import numpy as np
import pytest

from app.inference.face_search import LEAST_WIDTH, MOST_FACES, distinct, find_faces, starts
from app.types import Box, Face, Point, RgbImage

MAGENTA = (255, 0, 255)


def picture(width: int, height: int, squares: Sequence[tuple[int, int, int]]) -> RgbImage:
    """Gray, with magenta squares (x, y, side)."""
    image = np.full((height, width, 3), 128, np.uint8)
    for x, y, side in squares:
        image[max(0, y) : y + side, max(0, x) : x + side] = MAGENTA
    return image


def upright(x: float, y: float, width: float, height: float, score: float) -> Face:
    return Face(Box(x, y, width, height), Point(x + 0.3 * width, y), Point(x + 0.7 * width, y), score)


class Look:
    """A network that sees magenta at least ``least`` wide, as a share of the picture, and is ``sure`` of it so much."""

    def __init__(self, least: float, sure: Callable[[int], float] = lambda width: 0.9) -> None:
        self.least = least
        self.sure = sure
        self.sizes: list[tuple[int, int]] = []

    def __call__(self, image: RgbImage) -> list[Face]:
        height, width = image.shape[:2]
        self.sizes.append((width, height))
        seen = (np.abs(image.astype(int) - MAGENTA).max(axis=2) < 60).astype(np.uint8)
        _, _, stats, _ = cv2.connectedComponentsWithStats(seen)
        boxes = [[int(value) for value in row[:4]] for row in stats[1:]]
        return [upright(x, y, w, h, self.sure(w)) for x, y, w, h in boxes if w >= self.least * max(width, height)]


SHORT, FULL = 0.2, 1 / 16


def widths(faces: Sequence[Face]) -> list[int]:
    return [round(face.box.width) for face in faces]


def test_a_face_is_found_where_it_is() -> None:
    (face,) = find_faces(picture(600, 400, [(250, 120, 150)]), Look(SHORT), Look(FULL))
    assert (face.box.x, face.box.y, face.box.width) == pytest.approx((250, 120, 150), abs=4)
    assert face.right_eye.x < face.left_eye.x


def test_faces_come_largest_first_and_none_twice() -> None:
    found = find_faces(picture(600, 600, [(50, 50, 80), (300, 60, 200), (100, 400, 120)]), Look(SHORT), Look(FULL))
    assert widths(found) == pytest.approx([200, 120, 80], abs=4)


def test_what_is_not_seen_close_by_is_not_a_face() -> None:
    # On the close square the proposal is 87 of 192 pixels wide; there the network is in doubt.
    doubt = Look(SHORT, lambda width: 0.5 if 75 < width < 100 else 0.9)
    assert find_faces(picture(600, 400, [(250, 120, 150)]), doubt, Look(FULL)) == []


def test_a_picture_without_a_face_costs_two_looks() -> None:
    short, full = Look(SHORT), Look(FULL)
    assert find_faces(picture(768, 576, []), short, full) == []
    assert (len(short.sizes), len(full.sizes)) == (1, 1)


def test_small_faces_bring_a_closer_look_that_finds_smaller_ones() -> None:
    small = [(100, 100, 60), (400, 150, 36), (600, 400, 34)]
    assert widths(find_faces(picture(768, 576, small), Look(SHORT), Look(FULL))) == pytest.approx([60, 36, 34], abs=4)


def test_a_face_over_the_rim_has_a_box_over_the_rim() -> None:
    (face,) = find_faces(picture(400, 400, [(-60, 120, 160)]), Look(SHORT), Look(FULL))
    assert face.box.x < 0


def test_faces_narrower_than_the_least_are_left_alone() -> None:
    faces = picture(400, 400, [(50, 50, LEAST_WIDTH - 5), (200, 200, LEAST_WIDTH + 5)])
    assert widths(find_faces(faces, Look(SHORT), Look(1 / 40))) == pytest.approx([LEAST_WIDTH + 5], abs=2)


def test_of_a_crowd_the_largest_are_taken() -> None:
    crowd = [(20 + 150 * (i % 5), 20 + 150 * (i // 5), 50 + 2 * i) for i in range(MOST_FACES + 3)]
    found = find_faces(picture(800, 500, crowd), Look(SHORT), Look(FULL))
    assert len(found) == MOST_FACES
    assert min(widths(found)) >= 54


@pytest.mark.parametrize(("width", "height"), [(1, 1), (3000, 1), (1, 3000), (2, 2), (20000, 20), (8000, 400)])
def test_odd_pictures_have_no_face_and_cost_few_looks(width: int, height: int) -> None:
    short, full = Look(SHORT), Look(FULL)
    assert find_faces(picture(width, height, []), short, full) == []
    assert len(short.sizes + full.sizes) <= 6


def test_in_a_panorama_faces_are_found_that_the_whole_would_hide() -> None:
    assert widths(find_faces(picture(3000, 400, [(2100, 100, 120)]), Look(SHORT), Look(FULL))) == pytest.approx(
        [120], abs=6
    )


def test_of_large_pictures_the_networks_see_small_ones() -> None:
    short, full = Look(SHORT), Look(FULL)
    (face,) = find_faces(picture(3000, 2000, [(800, 700, 600)]), short, full)
    assert (face.box.x, face.box.width) == pytest.approx((800, 600), abs=12)
    assert max(max(size) for size in short.sizes + full.sizes) <= 256


def test_of_two_sightings_of_one_face_the_surer_stays() -> None:
    unsure, sure, other = (
        upright(100, 100, 80, 80, 0.5),
        upright(105, 98, 84, 84, 0.9),
        upright(300, 100, 80, 80, 0.4),
    )
    assert distinct([unsure, sure, other]) == [sure, other]


def test_a_box_inside_another_is_the_same_face() -> None:
    outer, inner = upright(0, 0, 200, 200, 0.9), upright(60, 60, 70, 70, 0.8)
    assert distinct([outer, inner]) == [outer]


@pytest.mark.parametrize(("length", "tile"), [(100, 100), (100, 300), (768, 576), (8000, 400), (401, 400)])
def test_tiles_cover_everything_and_overlap(length: int, tile: int) -> None:
    begin = starts(length, tile)
    assert begin[0] == 0
    assert begin[-1] == max(0, length - tile)
    assert all(second - first <= 0.8 * tile + 1 for first, second in pairwise(begin))
