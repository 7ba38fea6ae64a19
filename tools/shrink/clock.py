"""Times of several things, taken in turn: a machine whose speed drifts slows all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def in_turn(runs: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Seconds of each of ``runs`` in ``rounds`` rounds A B C, C B A, A B C, after a round that is not counted.

    Each second round goes backwards, since a run also feels what ran just before it.
    """
    for run in runs:
        run()
    times: list[list[float]] = [[] for _ in runs]
    places = list(range(len(runs)))
    for number in range(rounds):
        for place in reversed(places) if number % 2 else places:
            times[place].append(_seconds(runs[place]))
    return times


def ratios(times: Sequence[Sequence[float]]) -> list[float]:
    """Of each thing the median of its ratios to the first, round by round."""
    return [statistics.median(ours / first for ours, first in zip(row, times[0], strict=True)) for row in times]


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
