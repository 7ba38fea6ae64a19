"""What batches bring is measured with the code that serves, and told as tables."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from app.types import Tensor
from tools.bench.batches import Figures, Way, gives_the_same, measure, table, ways
from tools.benchmark_batches import main

TENSOR = np.zeros((1, 3, 8, 8), np.float32)


class Counting:
    """Remembers how many pictures each run had; ``off``: by how much its batches differ."""

    def __init__(self, off: float = 0.0) -> None:
        self.runs: list[int] = []
        self._off = off
        self._lock = threading.Lock()

    def run(self, tensor: Tensor) -> Tensor:
        with self._lock:
            self.runs.append(len(tensor))
        return tensor + np.float32(self._off if len(tensor) > 1 else 0)


def test_no_way_uses_more_processors_at_a_time_than_there_are_but_the_one_that_shows_why_not() -> None:
    assert [(way.runs, way.beside) for way in ways(1)] == [(1, 1)]
    assert all(way.runs * way.beside <= 4 for way in ways(4) if way.name != "2 x 4")


def test_batches_are_filled_by_the_clients_and_never_beyond_their_size() -> None:
    session = Counting()
    measure(lambda threads: session, TENSOR, Way("1 x 1", 1, 1, 1), 4, clients=8, seconds=0.05)
    assert max(session.runs) == 4
    single = Counting()
    measure(lambda threads: single, TENSOR, Way("1 x 1", 1, 1, 1), 1, clients=8, seconds=0.05)
    assert set(single.runs) == {1}


def test_each_way_has_sessions_of_its_threads() -> None:
    asked: list[int] = []

    def session(threads: int) -> Counting:
        asked.append(threads)
        return Counting()

    measure(session, TENSOR, Way("both", 2, 4, 2), 1, clients=2, seconds=0.01)
    assert asked == [4, 2]


def test_a_network_whose_batches_differ_is_found_out() -> None:
    assert gives_the_same(Counting(), TENSOR, 4)
    assert not gives_the_same(Counting(off=1e-6), TENSOR, 4)


def test_figures_stand_by_way_and_batch() -> None:
    rows = [(Way("1 x 2", 1, 2, 2), {1: Figures(10.04, 99.6, 50.0), 4: Figures(9.0, 100.0, 50.0)})]
    assert list(table(rows))[-1] == "| 1 x 2 | 10.0 / 100 / 50 | 9.0 / 100 / 50 |"


def test_a_built_in_network_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    shortest = ["--sizes", "32", "--batches", "1", "2", "--clients", "2", "--rounds", "1", "--seconds", "0.01"]
    assert main(["hayao", *shortest]) == 0
    told = capsys.readouterr().out
    assert "## hayao fp32, 32 x 32 px" in told
    assert "| Runs x threads | batch 1 | batch 2 |" in told
    assert "other pixels" not in told
