"""A batch gives the very pixels of single runs; a network for which that is not so runs singly."""

from __future__ import annotations

import logging

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


def test_runs_beside_others_take_the_session_that_leaves_them_room() -> None:
    alone, beside = Double(), Double()
    network = Network("hayao", alone, beside)
    network.run(tensors(1), alone=False)
    assert (alone.runs, beside.runs) == ([], [1])
    network.run(tensors(1), alone=True)
    assert (alone.runs, beside.runs) == ([1], [1])
