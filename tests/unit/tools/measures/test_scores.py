"""All measures together, and the made pictures."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.unit.tools.measures.gradients import cut_to
from tools.measures.banding import banding
from tools.measures.made import made_pictures
from tools.measures.scores import MEASURES, mean_scores, score, worst_scores

MADE = made_pictures(192, 160)


@pytest.mark.parametrize("name", MADE)
def test_a_picture_against_itself_is_best_in_every_measure(name: str) -> None:
    scores = score(MADE[name], MADE[name])
    assert scores.keys() == MEASURES.keys()
    for key, value in scores.items():
        assert value == pytest.approx({"ssim": 1, "edges": 1, "psnr": np.inf}.get(key, 0)), key


@pytest.mark.parametrize("name", MADE)
def test_a_coarse_picture_is_worse_in_every_measure_of_looks(name: str) -> None:
    coarse = cut_to(MADE[name].astype(float), 4).round().astype(np.uint8)
    best, coarse_scores = score(MADE[name], MADE[name]), score(MADE[name], coarse)
    for key in ("ssim", "psnr", "gmsd", "color", "banding", "mean_error", "max_error"):
        assert MEASURES[key].worst((best[key], coarse_scores[key])) == coarse_scores[key] != best[key], key


@pytest.mark.parametrize("name", MADE)
def test_made_pictures_have_no_bands_and_show_those_of_five_bits(name: str) -> None:
    picture = MADE[name]
    coarse = cut_to(picture.astype(float), 5).round().astype(np.uint8)
    assert banding(cv2.GaussianBlur(picture, (0, 0), 4), picture) < 0.15
    assert banding(picture, coarse) > 0.8


def test_made_pictures_are_the_same_every_time_and_of_the_size_asked_for() -> None:
    again = made_pictures(192, 160)
    assert all((again[name] == MADE[name]).all() for name in MADE)
    assert {picture.shape for picture in again.values()} == {(160, 192, 3)}


def test_only_the_measures_asked_for_are_taken() -> None:
    picture = MADE["made sky"]
    assert score(picture, picture, ("psnr", "ssim")).keys() == {"psnr", "ssim"}


def test_the_worst_is_the_least_or_the_most_as_the_measure_says() -> None:
    rows = [{"ssim": 0.9, "banding": 0.5}, {"ssim": 0.8, "banding": 0.1}]
    assert worst_scores(rows) == {"ssim": 0.8, "banding": 0.5}
    assert mean_scores(rows) == pytest.approx({"ssim": 0.85, "banding": 0.3})
