"""A batch gives the very pixels of single runs; a network for which that is not so runs singly."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from app.inference.network import Network
from app.types import Tensor


class Double:
    """Answers with twice the input, and remembers how many pictures each run had."""

    def __init__(self, error_in_batches: float = 0.0) -> None:
        self.runs: list[int] = []
        self._error = error_in_batches

    def run(self, tensor: Tensor) -> Tensor:
        self.runs.append(len(tensor))
        return np.float32(2) * tensor + np.float32(self._error if len(tensor) > 1 else 0)


def tensors(count: int, side: int = 4) -> list[Tensor]:
    random = np.random.default_rng(count)
    return [random.uniform(-1, 1, (1, 3, side, side)).astype(np.float32) for _ in range(count)]


def test_each_picture_of_a_batch_gets_its_own_answer() -> None:
    given = tensors(3)
    answers = Network("hayao", Double(), Double(), most=4).run(given, alone=True)
    assert all(np.array_equal(answer, 2 * tensor) for answer, tensor in zip(answers, given, strict=True))


def test_the_first_batch_of_a_shape_is_held_against_single_runs_and_later_ones_are_not() -> None:
    session = Double()
    network = Network("hayao", session, Double(), most=4)
    network.run(tensors(2), alone=True)
    assert sorted(session.runs) == [1, 1, 2]
    network.run(tensors(2), alone=True)
    assert session.runs[3:] == [2]
    network.run(tensors(2, side=8), alone=True)
    network.run(tensors(3), alone=True)
    assert sorted(session.runs[4:]) == [1, 1, 1, 1, 1, 2, 3]


def test_a_network_whose_batches_differ_by_a_hair_runs_singly_from_then_on_and_that_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session, given = Double(error_in_batches=1e-6), tensors(3)
    network = Network("hayao", session, Double(), most=4)
    with caplog.at_level(logging.INFO):
        answers = network.run(given, alone=True)
    assert all(np.array_equal(answer, 2 * tensor) for answer, tensor in zip(answers, given, strict=True))
    assert network.most == 1
    assert "hayao" in caplog.text
    session.runs.clear()
    network.run(given, alone=True)
    assert session.runs == [1, 1, 1]


def test_what_its_sessions_keep_is_the_most_that_their_runs_took_at_one_time() -> None:
    network = Network("hayao", Double(), Double(), most=4, run_bytes=100)
    assert network.held == 0
    network.run(tensors(1, side=8), alone=True)
    network.run(tensors(1, side=4), alone=True)
    assert network.held == 100 * 64
    network.run(tensors(2, side=4), alone=False)
    assert network.held == 100 * (64 + 32)


def test_it_is_kept_by_each_run_that_goes_on_at_the_same_time() -> None:
    meeting = threading.Barrier(2)

    class Meeting(Double):
        def run(self, tensor: Tensor) -> Tensor:
            meeting.wait(30)
            return tensor

    network = Network("hayao", Double(), Meeting(), run_bytes=100)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: network.run(tensors(1), alone=False), range(2)))
    assert network.held == 100 * 2 * 16


def test_what_is_given_back_is_held_no_more_and_is_asked_for_only_where_there_is_something() -> None:
    given_back: list[int] = []
    network = Network("hayao", Double(), Double(), run_bytes=100, release=lambda: given_back.append(network.held))
    network.release()
    network.run(tensors(1), alone=True)
    network.release()
    assert given_back == [100 * 16]
    assert network.held == 0


def test_a_run_that_fails_has_taken_its_memory_all_the_same_and_takes_no_more() -> None:
    class Failing(Double):
        def run(self, tensor: Tensor) -> Tensor:
            raise MemoryError

    network = Network("hayao", Failing(), Failing(), run_bytes=100)
    for _ in range(2):
        with pytest.raises(MemoryError):
            network.run(tensors(1), alone=True)
    assert network.held == 100 * 16


def test_runs_beside_others_take_the_session_that_leaves_them_room() -> None:
    alone, beside = Double(), Double()
    network = Network("hayao", alone, beside)
    network.run(tensors(1), alone=False)
    assert (alone.runs, beside.runs) == ([], [1])
    network.run(tensors(1), alone=True)
    assert (alone.runs, beside.runs) == ([1], [1])
