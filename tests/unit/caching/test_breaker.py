"""A neighbour that fails is left alone for a while, and told of seldom."""

from app.caching.breaker import Breaker, Seldom
from tests.unit.caching.clock import FakeClock


def test_it_opens_after_failures_in_a_row_only() -> None:
    breaker = Breaker(failures=3, pause=5, clock=FakeClock())
    for succeeded in (False, False, True, False, False):
        assert breaker.lets_through()
        breaker.record(succeeded=succeeded)
    assert breaker.lets_through()
    breaker.record(succeeded=False)
    assert not breaker.lets_through()


def test_after_its_pause_it_lets_a_single_one_try() -> None:
    clock = FakeClock()
    breaker = Breaker(failures=1, pause=5, clock=clock)
    breaker.record(succeeded=False)
    clock.pass_(4.9)
    assert not breaker.lets_through()
    clock.pass_(0.1)
    assert [breaker.lets_through() for _ in range(3)] == [True, False, False]


def test_a_try_that_fails_begins_the_pause_anew_and_one_that_succeeds_ends_it() -> None:
    clock = FakeClock()
    breaker = Breaker(failures=2, pause=5, clock=clock)
    breaker.record(succeeded=False)
    breaker.record(succeeded=False)
    clock.pass_(5)
    assert breaker.lets_through()
    breaker.record(succeeded=False)
    clock.pass_(4)
    assert not breaker.lets_through()
    clock.pass_(1)
    assert breaker.lets_through()
    breaker.record(succeeded=True)
    assert [breaker.lets_through() for _ in range(3)] == [True] * 3


def test_a_try_of_which_nobody_hears_again_is_followed_by_another() -> None:
    clock = FakeClock()
    breaker = Breaker(failures=1, pause=5, clock=clock)
    breaker.record(succeeded=False)
    clock.pass_(5)
    assert breaker.lets_through()
    clock.pass_(5)
    assert breaker.lets_through()


def test_seldom_is_once_in_its_pause() -> None:
    clock = FakeClock()
    seldom = Seldom(60, clock=clock)
    due = []
    for _ in range(5):
        due.append(seldom.is_due())
        clock.pass_(30)
    assert due == [True, False, True, False, True]
