"""Advice on threads, from a measured curve."""

from __future__ import annotations

import pytest

from tools.phone.threads import advice, advised_threads, thread_counts


@pytest.mark.parametrize(
    ("cpus", "counts"), [(1, (1,)), (2, (1, 2)), (3, (1, 2, 3)), (4, (1, 2, 4)), (6, (1, 2, 4, 6)), (8, (1, 2, 4, 8))]
)
def test_numbers_of_threads_double_up_to_what_there_is(cpus: int, counts: tuple[int, ...]) -> None:
    assert thread_counts(cpus) == counts


@pytest.mark.parametrize(
    ("curve", "threads"),
    [({1: 100.0}, 1), ({1: 100.0, 2: 55.0}, 2), ({1: 100.0, 2: 55.0, 4: 52.0}, 2), ({1: 100.0, 2: 140.0}, 1)],
)
def test_the_fewest_threads_that_are_nearly_the_fastest_are_advised(curve: dict[int, float], threads: int) -> None:
    assert advised_threads(curve) == threads


def test_advice_says_where_it_was_measured_and_what() -> None:
    said = advice({1: 100.4, 2: 55.0}, "x86_64-avx2", "ONNX Runtime")
    assert "with ONNX Runtime on the machine that made this bundle (x86_64-avx2), not on a phone" in said
    assert "100 ms with one thread, 55 ms with 2 threads. There 2 threads would do." in said
