"""Plain errors, the magnified difference, and agreement of lines."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from tests.unit.tools.measures.gradients import gray, noise, places, ramps
from tools.measures.difference import magnified, max_error, mean_error, psnr
from tools.measures.edges import edge_agreement

PLAIN = gray(ramps()["sky"])
X, Y = places()
LINES = gray(200 - 150 * (np.hypot(X - 128, Y - 128) % 40 < 6))


def test_errors_of_a_known_difference() -> None:
    other = PLAIN.copy()
    other[:, :128, 0] += 6
    assert max_error(PLAIN, other) == 6
    assert mean_error(PLAIN, other) == pytest.approx(6 / 2 / 3)
    assert psnr(PLAIN, other) == pytest.approx(10 * math.log10(255**2 / 6))


def test_errors_do_not_wrap_round() -> None:
    black, white = np.zeros((16, 16, 3), np.uint8), np.full((16, 16, 3), 255, np.uint8)
    assert max_error(black, white) == max_error(white, black) == mean_error(white, black) == 255
    assert psnr(black, white) == 0


def test_equal_pictures_have_no_error() -> None:
    assert (max_error(PLAIN, PLAIN), mean_error(PLAIN, PLAIN), psnr(PLAIN, PLAIN)) == (0, 0, math.inf)


def test_the_difference_is_shown_eight_times_and_saturates() -> None:
    other = PLAIN.copy()
    other[0, 0] += 3
    other[0, 1] += 40
    shown = magnified(PLAIN, other)
    assert shown[0, 0].tolist() == [24, 24, 24]
    assert shown[0, 1].tolist() == [255, 255, 255]
    assert not shown[1:].any()


def test_lines_in_place_agree_under_noise_and_another_tone() -> None:
    assert edge_agreement(LINES, LINES) == 1
    assert edge_agreement(LINES, gray(LINES[..., 0] * 0.8 + 20 + noise(3))) > 0.97


def test_lines_elsewhere_do_not_agree() -> None:
    assert edge_agreement(LINES, np.roll(LINES, 9, axis=1)) < 0.6


def test_lost_lines_and_false_ones_both_count() -> None:
    half = LINES.copy()
    half[:, 128:] = 200
    assert edge_agreement(LINES, half) == pytest.approx(edge_agreement(half, LINES), abs=0.01)
    assert 0.55 < edge_agreement(LINES, half) < 0.8


def test_pictures_without_lines_agree_with_each_other_only() -> None:
    blank = np.full_like(LINES, 200)
    assert edge_agreement(blank, cv2.add(blank, 3)) == 1
    assert edge_agreement(blank, LINES) == 0
