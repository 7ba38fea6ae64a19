"""Threads wait for their turn, are told where they are, and go when nobody wants their work any more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from app.admission.desk import Crowd, Desk, Place
from app.admission.floor import Floor
from app.admission.pace import Pace
from app.admission.work import Work
from app.deadline import NO_DEADLINE, Deadline
from app.errors import ClientGone, DeadlineExceeded, Overloaded
from app.telemetry.observer import Observer
from tests.unit.admission.clock import Clock

LIMIT = 30.0
"""Seconds after which a test that waits has failed."""

SECOND = 100_000
"""Pixels that take a second here."""


class Seen(Observer):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []

    def refused(self, cause: str) -> None:
        self.told.append(("refused", cause))

    def turn_came(self, waited: float) -> None:
        self.told.append(("waited", waited))

    def queue_holds(self, waiting: int) -> None:
        self.told.append(("waiting", waiting))

    def under_way(self, conversions: int) -> None:
        self.told.append(("under way", conversions))


class Here:
    """A desk with one lane, on a clock that stands still, and threads that come to it."""

    def __init__(self, lanes: int = 1, most: int = 64, observer: Observer | None = None) -> None:
        self.clock = Clock()
        floor = Floor(Pace(first_guess=1 / SECOND), lanes=lanes, runs=1, most=most)
        self.desk = Desk(floor, observer or Observer(), self.clock)
        self._pool = ThreadPoolExecutor(16)
        self._let_go: dict[str, threading.Event] = {}

    def come(self, name: str, seconds: float = 1.0, deadline: Deadline = NO_DEADLINE) -> Future[str]:
        """Work comes and waits; returns once the desk knows of it."""
        self._let_go[name] = threading.Event()
        known, crowd = threading.Event(), self.desk.crowd()
        come = self._pool.submit(self._work, name, seconds, deadline)
        come.add_done_callback(lambda _: known.set())
        while self.desk.crowd().waiting + self.desk.crowd().working == crowd.waiting + crowd.working:
            if known.wait(0.001):
                break
        return come

    def _work(self, name: str, seconds: float, deadline: Deadline) -> str:
        with self.desk.turn(Work("hayao", seconds * SECOND), deadline, name):
            assert self._let_go[name].wait(LIMIT)
        return name

    def finish(self, name: str, come: Future[str]) -> str:
        """The work of that name is done."""
        self._let_go[name].set()
        return come.result(LIMIT)

    def deadline(self, seconds: float, gone: Callable[[], bool] = lambda: False) -> Deadline:
        return Deadline(seconds, clock=self.clock, gone=gone)


def test_a_turn_is_held_for_the_block_and_given_back() -> None:
    here = Here()
    with here.desk.turn(Work("hayao", SECOND), NO_DEADLINE):
        assert here.desk.crowd() == Crowd(waiting=0, working=1, seconds=1.0)
    assert here.desk.crowd() == Crowd(waiting=0, working=0, seconds=0.0)


def test_who_waits_is_called_when_the_one_before_is_done() -> None:
    here = Here()
    first, second = here.come("first"), here.come("second")
    assert here.desk.place("second") == Place("waiting", before=1, seconds=2.0)
    here.finish("first", first)
    assert here.finish("second", second) == "second"


def test_one_is_told_where_one_is() -> None:
    here = Here()
    first, second = here.come("first", 4), here.come("second", 2)
    here.clock.now += 1
    assert here.desk.place("first") == Place("working", before=0, seconds=3.0)
    assert here.desk.place("second") == Place("waiting", before=1, seconds=5.0)
    assert here.desk.place("third") is None
    here.finish("first", first)
    here.finish("second", second)
    assert here.desk.place("first") is None


def test_a_name_that_comes_again_is_the_latest_of_that_name() -> None:
    here = Here(lanes=2)
    with here.desk.turn(Work("hayao", SECOND), NO_DEADLINE, "same"):
        with here.desk.turn(Work("hayao", 3 * SECOND), NO_DEADLINE, "same"):
            assert here.desk.place("same") == Place("working", before=0, seconds=4.0)
        assert here.desk.place("same") is None


def test_work_that_fails_gives_its_place_back() -> None:
    here = Here()
    with pytest.raises(RuntimeError), here.desk.turn(Work("hayao", SECOND), NO_DEADLINE):
        raise RuntimeError
    assert here.desk.crowd().working == 0


def test_who_waits_beyond_its_deadline_is_told_so_and_leaves_the_line() -> None:
    here = Here()
    first = here.come("first", 0.001)
    with pytest.raises(DeadlineExceeded), here.desk.turn(Work("hayao", SECOND / 1000), Deadline(0.05)):
        pytest.fail("its turn never comes")
    assert here.desk.crowd().waiting == 0
    here.finish("first", first)


def test_what_comes_too_late_is_told_so_at_once() -> None:
    here = Here()
    late = here.deadline(1)
    here.clock.now += 1
    with pytest.raises(DeadlineExceeded), here.desk.turn(Work("hayao", SECOND), late):
        pytest.fail("it is too late")


def test_a_client_that_has_gone_is_dropped_when_somebody_else_comes_and_never_begins() -> None:
    here, gone = Here(), threading.Event()
    first = here.come("first")
    second = here.come("second", deadline=here.deadline(60, gone.is_set))
    third = here.come("third")
    gone.set()
    with pytest.raises(Overloaded), here.desk.turn(Work("hayao", 99 * SECOND), here.deadline(1)):
        pytest.fail("it cannot be done in time")
    assert isinstance(second.exception(LIMIT), ClientGone)
    assert here.desk.place("third") == Place("waiting", before=1, seconds=2.0)
    here.finish("first", first)
    here.finish("third", third)


def test_a_client_that_has_gone_is_dropped_when_its_turn_comes() -> None:
    here, gone = Here(), threading.Event()
    first, second = here.come("first"), here.come("second", deadline=here.deadline(60, gone.is_set))
    gone.set()
    here.finish("first", first)
    assert isinstance(second.exception(LIMIT), ClientGone)


def test_what_is_past_its_deadline_when_its_turn_comes_is_not_begun() -> None:
    here = Here()
    first, second = here.come("first"), here.come("second", deadline=here.deadline(60))
    here.clock.now += 61
    here.finish("first", first)
    assert isinstance(second.exception(LIMIT), DeadlineExceeded)


def test_what_is_found_on_the_way_counts_for_those_who_wait() -> None:
    here = Here()
    with here.desk.turn(Work("hayao", SECOND), NO_DEADLINE) as found_more:
        waiting = here.come("waiting")
        found_more(2 * SECOND)
        assert here.desk.place("waiting") == Place("waiting", before=1, seconds=4.0)
    here.finish("waiting", waiting)


def test_all_is_told_to_who_observes() -> None:
    seen = Seen()
    here = Here(most=2, observer=seen)
    first, second = here.come("first"), here.come("second")
    with pytest.raises(Overloaded), here.desk.turn(Work("hayao", SECOND), NO_DEADLINE):
        pytest.fail("it is full")
    here.clock.now += 3
    here.finish("first", first)
    here.finish("second", second)
    assert seen.told[:6] == [
        ("waited", 0.0),
        ("waiting", 0),
        ("under way", 1),
        ("waiting", 1),
        ("under way", 1),
        ("refused", "queue"),
    ]
    assert ("waited", 3.0) in seen.told
    assert seen.told[-2:] == [("waiting", 0), ("under way", 0)]
