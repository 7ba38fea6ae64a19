"""Two networks over the same pictures."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from tests.unit.tools.judge.networks import BRIGHTER, BROKEN, CARD, COARSE, SAME, compared, photos
from tools.judge.comparison import Painter, compare


def test_a_network_against_itself_differs_nowhere() -> None:
    comparison = compared(SAME)
    assert comparison.mean["max_error"] == comparison.worst["max_error"] == 0
    assert [row.made for row in comparison.rows] == [False, False, True, True, True]


def test_a_change_is_measured_on_what_the_network_paints() -> None:
    comparison = compared(BRIGHTER)
    assert comparison.worst["max_error"] == pytest.approx(10, abs=1)
    assert 1 < comparison.mean["color"] < 5


def test_made_pictures_count_for_the_worst_and_not_for_the_mean() -> None:
    comparison = compared(COARSE)
    photos_only, all_rows = comparison.rows[:2], comparison.rows
    assert comparison.mean["banding"] == pytest.approx(np.mean([row.scores["banding"] for row in photos_only]))
    assert comparison.worst["banding"] == max(row.scores["banding"] for row in all_rows) > 1


def test_without_photos_the_mean_is_of_the_made_pictures() -> None:
    assert compare(Painter(CARD, SAME), Painter(CARD, BRIGHTER), [], photos()).mean["max_error"] > 0


def test_answers_that_are_no_numbers_are_told() -> None:
    assert set(compared(BROKEN).broken) == {row.photo.name for row in compared(SAME).rows} - {"made dark"}
    assert compared(BROKEN, BROKEN).broken == compared(SAME).broken == ()


def test_times_are_compared_picture_by_picture_and_the_quicker_round_counts() -> None:
    ticks = count(0, 1.0)
    a = Painter(CARD, SAME, lambda: next(ticks))
    steps = iter([0, 9, 0, 3] * 9)
    b = Painter(CARD, SAME, lambda: next(steps))
    assert compare(a, b, photos(3), []).time_ratio == 3
