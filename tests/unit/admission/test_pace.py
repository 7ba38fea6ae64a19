"""What work takes is learned from work that was done, kind by kind, and forgotten in time."""

from __future__ import annotations

import pytest

from app.admission.pace import STALE, Pace
from app.admission.work import Work

USUAL = Work("hayao auto", 500_000)


def test_before_anything_is_known_there_is_a_guess_and_more_pixels_take_longer() -> None:
    pace = Pace(first_guess=1e-6)
    assert pace.seconds(USUAL) == pytest.approx(0.5)
    assert pace.seconds(Work("hayao auto", 1_000_000)) == pytest.approx(1.0)


def test_work_of_a_kind_is_expected_to_take_what_it_took() -> None:
    pace = Pace()
    pace.learn(USUAL, 0, 0.2)
    assert pace.seconds(USUAL) == pytest.approx(0.2)
    assert pace.seconds(Work("hayao auto", 1_000_000)) == pytest.approx(0.4)


def test_a_machine_that_has_become_slow_is_noticed_within_ten_conversions() -> None:
    pace = Pace()
    pace.learn(USUAL, 0, 0.1)
    for _ in range(10):
        pace.learn(USUAL, 0, 0.4)
    assert 0.36 < pace.seconds(USUAL) < 0.4


def test_one_odd_conversion_moves_the_expectation_by_no_more_than_its_share() -> None:
    pace = Pace(weight=0.2)
    pace.learn(USUAL, 0, 0.1)
    pace.learn(USUAL, 0, 1.1)
    assert pace.seconds(USUAL) == pytest.approx(0.3)


def test_each_kind_has_a_pace_of_its_own() -> None:
    pace, slow = Pace(), Work("shinkai auto", 500_000)
    pace.learn(USUAL, 0, 0.1)
    pace.learn(slow, 0, 3.0)
    assert pace.seconds(USUAL) == pytest.approx(0.1)
    assert pace.seconds(slow) == pytest.approx(3.0)


def test_a_kind_not_met_yet_goes_at_the_pace_of_all() -> None:
    pace = Pace(first_guess=1e-6, weight=0.5)
    pace.learn(USUAL, 0, 0.1)
    assert pace.seconds(Work("cute auto", 500_000)) == pytest.approx(0.3)


def test_what_turns_up_on_the_way_is_learned_apart_from_the_pace() -> None:
    pace = Pace()
    for _ in range(3):
        pace.learn(USUAL, 500_000, 0.2)
    assert pace.seconds(USUAL) == pytest.approx(0.2)
    assert pace.seconds(USUAL, more=0) == pytest.approx(0.1)
    assert pace.seconds(USUAL, more=1_500_000) == pytest.approx(0.4)


def test_a_kind_that_was_not_met_for_long_goes_at_the_pace_of_all_again() -> None:
    """Who is turned away because its kind takes too long teaches nothing, and would be turned away for ever."""
    pace, slow = Pace(weight=0.5), Work("shinkai auto", 500_000)
    pace.learn(slow, 0, 90.0, now=0.0)
    for second in range(20):
        pace.learn(USUAL, 0, 0.1, now=float(second))
    assert pace.seconds(slow, now=STALE) == pytest.approx(90.0)
    assert pace.seconds(slow, now=STALE + 1) == pytest.approx(0.1, rel=0.01)
