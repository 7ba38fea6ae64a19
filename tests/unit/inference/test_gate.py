"""A lone run has every processor; runs that come together go side by side, never more than may."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from app.config import PROJECT_ROOT
from app.inference.gate import Gate, GatedSession
from app.inference.registry import ModelRegistry
from app.inference.session import OrtSession
from app.types import Tensor

LIMIT = 30.0
"""Seconds after which a test that waits has failed."""


class Named:
    """A session that answers with its own number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def run(self, tensor: Tensor) -> Tensor:
        return np.full_like(tensor, self.number)


def test_a_lone_run_goes_alone_each_time() -> None:
    session = GatedSession(Named(1), Named(2), Gate(2))
    assert [float(session.run(np.zeros(1, np.float32))[0]) for _ in range(3)] == [1.0, 1.0, 1.0]


def test_runs_that_wait_for_a_lone_one_go_side_by_side() -> None:
    gate, together = Gate(2), threading.Barrier(2)

    def enter() -> bool:
        with gate.place() as alone:
            # Passes only if the other one is inside at the same time.
            together.wait(LIMIT)
            return alone

    with ThreadPoolExecutor(2) as pool:
        with gate.place() as alone:
            assert alone
            others = [pool.submit(enter) for _ in range(2)]
            while gate.waiting < 2:
                assert not any(other.done() for other in others)
        assert [other.result(LIMIT) for other in others] == [False, False]


def test_never_more_are_inside_than_may() -> None:
    gate, lock = Gate(2), threading.Lock()
    inside, most = 0, 0

    def enter(_: int) -> None:
        nonlocal inside, most
        with gate.place():
            with lock:
                inside += 1
                most = max(most, inside)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(enter, range(400)))
    assert 1 <= most <= 2


def test_where_one_may_run_it_always_goes_alone() -> None:
    gate = Gate(1)
    with ThreadPoolExecutor(4) as pool:

        def enter(_: int) -> bool:
            with gate.place() as alone:
                return alone

        assert all(pool.map(enter, range(100)))


def test_a_run_that_fails_gives_its_place_back() -> None:
    class Failing:
        def run(self, tensor: Tensor) -> Tensor:
            raise RuntimeError

    gate = Gate(1)
    for _ in range(2):
        try:
            GatedSession(Failing(), Failing(), gate).run(np.zeros(1, np.float32))
        except RuntimeError:
            continue
    with gate.place() as alone:
        assert alone


def test_however_the_threads_are_shared_the_output_is_the_same() -> None:
    tensor = np.random.default_rng(1).uniform(-1, 1, (1, 3, 136, 200)).astype(np.float32)
    for style in ModelRegistry.load(PROJECT_ROOT / "models", with_added=False).styles.values():
        one, two = (OrtSession(style.path, style.card, threads=threads).run(tensor) for threads in (1, 2))
        assert np.array_equal(one, two)
