"""Runs of networks in their turn: a lone one has every processor, others go side by side or as one batch."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from app.errors import DeadlineExceeded
from app.inference.batcher import Batcher
from app.inference.network import Network
from app.telemetry.observer import Observer
from app.types import Tensor

LIMIT = 30.0
"""Seconds after which a test that waits has failed."""


class Named:
    """A session that answers with its own number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def run(self, tensor: Tensor) -> Tensor:
        return np.full_like(tensor, self.number)


class Meeting(Named):
    """One whose runs pass only if as many are under way at the same time as ``together`` waits for."""

    def __init__(self, number: float, together: threading.Barrier) -> None:
        super().__init__(number)
        self.together = together

    def run(self, tensor: Tensor) -> Tensor:
        self.together.wait(LIMIT)
        return super().run(tensor)


class Held:
    """A session whose runs wait until the test lets them go; answers with twice the input."""

    def __init__(self) -> None:
        self.entered, self.let_go = threading.Semaphore(0), threading.Event()
        self.runs: list[int] = []

    def run(self, tensor: Tensor) -> Tensor:
        self.runs.append(len(tensor))
        self.entered.release()
        assert self.let_go.wait(LIMIT)
        return np.float32(2) * tensor


def picture(value: float = 0.0, side: int = 4) -> Tensor:
    return np.full((1, 3, side, side), value, np.float32)


def until(condition: Callable[[], bool]) -> None:
    """Return once ``condition`` holds."""
    stop = threading.Event()
    threading.Timer(LIMIT, stop.set).start()
    while not condition():
        assert not stop.is_set()


class Hall:
    """A batcher with one run under way, which holds everything else up until ``open``."""

    def __init__(self, batcher: Batcher) -> None:
        self.batcher, self._first = batcher, Held()
        self._pool = ThreadPoolExecutor(32)
        self._runs = [self._pool.submit(batcher.run, Network("first", self._first, self._first), picture())]
        assert self._first.entered.acquire(timeout=LIMIT)

    def enter(self, network: Network, tensor: Tensor, checkpoint: Callable[[], None] = lambda: None) -> Future[Tensor]:
        """Have ``tensor`` wait for its turn."""
        waiting = self.batcher.waiting
        run = self._pool.submit(self.batcher.run, network, tensor, checkpoint)
        self._runs.append(run)
        until(lambda: self.batcher.waiting == waiting + 1)
        return run

    def open(self) -> None:
        """Let the first run end and wait for all others."""
        self._first.let_go.set()
        for run in self._runs:
            run.exception(LIMIT)
        self._pool.shutdown()


def test_a_lone_run_goes_alone_each_time() -> None:
    network, batcher = Network("hayao", Named(1), Named(2)), Batcher(runs=2)
    assert [float(batcher.run(network, picture()).max()) for _ in range(3)] == [1.0, 1.0, 1.0]


def test_runs_that_wait_for_a_lone_one_go_side_by_side() -> None:
    hall, network = Hall(Batcher(runs=2)), Network("hayao", Named(1), Meeting(2, threading.Barrier(2)))
    runs = [hall.enter(network, picture()) for _ in range(2)]
    hall.open()
    assert [float(run.result().max()) for run in runs] == [2.0, 2.0]


def test_where_one_may_run_it_always_goes_alone() -> None:
    hall, network = Hall(Batcher(runs=1)), Network("hayao", Named(1), Named(2))
    runs = [hall.enter(network, picture()) for _ in range(3)]
    hall.open()
    assert {float(run.result().max()) for run in runs} == {1.0}


def test_never_more_are_under_way_than_may() -> None:
    lock, inside, most = threading.Lock(), 0, 0

    class Counting(Named):
        def run(self, tensor: Tensor) -> Tensor:
            nonlocal inside, most
            with lock:
                inside += 1
                most = max(most, inside)
            with lock:
                inside -= 1
            return tensor

    batcher, session = Batcher(runs=2, together=2), Counting(0)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: batcher.run(Network("hayao", session, session, most=2), picture()), range(400)))
    assert 1 <= most <= 2


def test_what_waits_for_the_same_network_runs_as_one_batch_and_each_gets_its_own_answer() -> None:
    session = Held()
    session.let_go.set()
    hall, network = Hall(Batcher(runs=1, together=4)), Network("hayao", session, session, most=4)
    runs = [hall.enter(network, picture(value)) for value in (1, 2, 3)]
    hall.open()
    assert [float(run.result().max()) for run in runs] == [2.0, 4.0, 6.0]
    # A batch, and the single runs it is held against once.
    assert sorted(session.runs) == [1, 1, 1, 3]


def test_what_is_given_up_while_it_waits_never_runs() -> None:
    session, gone = Held(), threading.Event()
    session.let_go.set()

    def checkpoint() -> None:
        if gone.is_set():
            raise DeadlineExceeded(seconds=1)

    hall, network = Hall(Batcher(runs=1, together=4)), Network("hayao", session, session, most=4)
    dropped, kept = hall.enter(network, picture(), checkpoint), hall.enter(network, picture(5))
    gone.set()
    hall.open()
    assert isinstance(dropped.exception(), DeadlineExceeded)
    assert float(kept.result().max()) == 10.0
    assert session.runs == [1]


def test_a_run_that_fails_gives_its_place_back_and_tells_whose_it_was() -> None:
    class Failing(Named):
        def run(self, tensor: Tensor) -> Tensor:
            raise RuntimeError("no memory")

    batcher = Batcher(runs=1)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no memory"):
            batcher.run(Network("hayao", Failing(0), Failing(0)), picture())
    assert float(batcher.run(Network("hayao", Named(1), Named(2)), picture()).max()) == 1.0


def test_a_picture_that_fails_a_batch_fails_alone() -> None:
    class Picky(Named):
        def run(self, tensor: Tensor) -> Tensor:
            if tensor.max() > 2:
                raise RuntimeError("too much")
            return tensor

    hall, network = Hall(Batcher(runs=1, together=4)), Network("hayao", Picky(0), Picky(0), most=4)
    runs = [hall.enter(network, picture(value)) for value in (1, 2, 3)]
    hall.open()
    assert isinstance(runs[2].exception(), RuntimeError)
    assert [float(run.result().max()) for run in runs[:2]] == [1.0, 2.0]


def test_a_batch_that_may_wait_runs_in_time_though_nobody_joins() -> None:
    batcher = Batcher(runs=1, together=4, wait=0.001)
    assert float(batcher.run(Network("hayao", Named(1), Named(2), most=4), picture()).max()) == 1.0


def test_a_batch_that_waits_is_sent_off_by_the_one_who_fills_it() -> None:
    batcher = Batcher(runs=1, together=2, wait=LIMIT)
    network = Network("hayao", Named(1), Named(1), most=2)
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(batcher.run, network, picture()) for _ in range(2)]
        assert [float(run.result(LIMIT / 2).max()) for run in runs] == [1.0, 1.0]


def test_of_what_went_through_nothing_is_kept() -> None:
    batcher, network, tensor = Batcher(runs=1), Network("hayao", Named(1), Named(2)), picture()
    kept = [weakref.ref(tensor), weakref.ref(batcher.run(network, tensor))]
    del tensor
    # At once, not when the garbage is next collected: these are tens of megabytes.
    assert all(one() is None for one in kept)


def test_what_runs_leave_is_taken_by_those_of_other_networks_and_given_back_when_asked_for() -> None:
    given_back: list[int] = []
    batcher = Batcher(runs=1)
    networks = [
        Network("hayao", Named(1), Named(1), run_bytes=size, release=partial(given_back.append, size))
        for size in (10, 20)
    ]
    batcher.release()
    for network, side in zip(networks, (8, 4), strict=True):
        batcher.run(network, picture(side=side))
    assert batcher.held() == 10 * 64
    assert given_back == []
    batcher.release()
    assert batcher.held() == 0
    assert len(given_back) == 1


def test_networks_that_run_side_by_side_leave_room_for_both() -> None:
    together, hall = threading.Barrier(2), Hall(Batcher(runs=2))
    for _ in range(2):
        hall.enter(Network("hayao", Named(1), Meeting(1, together), run_bytes=10), picture(side=4))
    hall.open()
    assert hall.batcher.held() == 10 * 2 * 16


def test_a_network_that_cannot_give_back_what_it_keeps_hinders_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise RuntimeError

    batcher = Batcher(runs=1)
    batcher.run(Network("hayao", Named(1), Named(1), run_bytes=10, release=fail), picture(side=4))
    batcher.release()
    assert batcher.held() == 10 * 16
    assert "hayao: memory was not given back." in caplog.text
    batcher.run(Network("ink", Named(1), Named(1), run_bytes=10), picture(side=4))
    batcher.release()
    assert batcher.held() == 0


def test_every_run_is_told_with_its_style_and_its_pictures() -> None:
    class Counting(Observer):
        def __init__(self) -> None:
            self.batches: list[tuple[str, int]] = []

        def batch_ran(self, style: str, pictures: int) -> None:
            self.batches.append((style, pictures))

    observer = Counting()
    hall = Hall(Batcher(runs=1, together=4, observer=observer))
    network = Network("hayao", Named(1), Named(1), most=4)
    for _ in range(3):
        hall.enter(network, picture())
    hall.open()
    assert observer.batches == [("first", 1), ("hayao", 3)]
