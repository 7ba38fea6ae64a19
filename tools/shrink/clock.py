"""Times of several things, taken in turn: a machine whose speed drifts slows all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def in_turn(runs: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Seconds of each of ``runs`` in ``rounds`` rounds A B C, A B C, after a round that is not counted."""
    for run in runs:
        run()
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, seconds in zip(runs, times, strict=True):
            seconds.append(_seconds(run))
    return times


def ratios(times: Sequence[Sequence[float]]) -> list[float]:
    """Of each thing the median of its ratios to the first, round by round."""
    return [statistics.median(ours / first for ours, first in zip(row, times[0], strict=True)) for row in times]


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
