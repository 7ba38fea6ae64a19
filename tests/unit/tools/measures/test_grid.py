"""Blockiness and checkerboards of known height."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.unit.tools.measures.gradients import SIDE, gray, noise, places
from tools.measures.grid import blockiness, checkerboard

X, Y = places()
FLAT = 70 + 0.2 * X + 0.1 * Y


def squares(height: float, side: int = 8):
    """Squares of ``side`` px, each of its own level."""
    count = SIDE // side
    return np.kron(np.random.default_rng(2).normal(0, height, (count, count)), np.ones((side, side)))


def weave(height: float, period: int):
    """Checks that repeat every ``period`` px."""
    return height * (-1.0) ** (X // (period / 2) + Y // (period / 2))


@pytest.mark.parametrize("height", [1, 2, 4])
def test_squares_are_read_at_the_height_of_their_jumps(height: float) -> None:
    # Two levels of deviation s differ by 2 s / sqrt(pi) in the mean.
    expected = 2 * height / np.pi**0.5
    assert blockiness(gray(FLAT), gray(FLAT + squares(height))) == pytest.approx(expected, rel=0.2, abs=0.15)


def test_squares_of_16_px_are_seen_too() -> None:
    assert blockiness(gray(FLAT), gray(FLAT + squares(4, side=16))) > 1.5


def test_jpeg_shows_more_squares_the_more_it_saves() -> None:
    original = gray(FLAT + cv2.GaussianBlur(noise(30), (0, 0), 6) * 3)
    saved = [_as_jpeg(original, quality) for quality in (95, 40, 10)]
    readings = [blockiness(original, picture) for picture in saved]
    assert readings == sorted(readings)
    assert readings[-1] > 1


@pytest.mark.parametrize("period", [2, 4, 8])
@pytest.mark.parametrize("height", [1, 3])
def test_a_weave_is_read_at_its_height(period: int, height: float) -> None:
    assert checkerboard(gray(FLAT), gray(FLAT + weave(height, period))) == pytest.approx(height, rel=0.1)


@pytest.mark.parametrize("measure", [blockiness, checkerboard])
def test_neither_is_read_from_what_has_no_grid(measure) -> None:
    for other in (FLAT, FLAT + 5, 1.1 * FLAT, FLAT + noise(1), cv2.GaussianBlur(FLAT, (0, 0), 3)):
        assert measure(gray(FLAT), gray(other)) < 0.2


@pytest.mark.parametrize("measure", [blockiness, checkerboard])
def test_what_the_original_has_too_is_not_counted(measure) -> None:
    gridded = FLAT + squares(3) + weave(3, 8)
    assert measure(gray(gridded), gray(gridded)) == 0
    assert measure(gray(gridded), gray(FLAT)) < 0.1


def test_a_picture_without_a_flat_place_has_no_grid() -> None:
    rough = gray(128 + noise(90))
    assert checkerboard(rough, gray(FLAT + weave(9, 8))) == 0


def _as_jpeg(picture, quality: int):
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return cv2.imdecode(data, cv2.IMREAD_COLOR)
