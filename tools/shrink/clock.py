"""Times of several things, taken in turn: a machine whose speed drifts slows all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Time:
    """ratio: what it takes for what takes the first thing one, median of rounds. milliseconds: of a run, median."""

    ratio: float
    milliseconds: float


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


def medians(seconds: Sequence[Sequence[float]]) -> list[Time]:
    """Of each thing the median of its ratios to the first, round by round, and of its own seconds."""
    return [
        Time(
            statistics.median(ours / first for ours, first in zip(row, seconds[0], strict=True)),
            statistics.median(row) * 1000,
        )
        for row in seconds
    ]


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
