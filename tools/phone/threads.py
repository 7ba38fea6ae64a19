"""How many threads a run should have, from what was measured on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NEAR: Final = 1.1
"""Fewer threads win where they take at most this many times as long as the best: the others' battery is worth more."""


def thread_counts(cpus: int) -> tuple[int, ...]:
    """1, 2, 4 and so on up to ``cpus``, and that itself."""
    doubled = [1 << power for power in range(cpus.bit_length()) if 1 << power < cpus]
    return (*doubled, cpus)


def advised_threads(curve: Mapping[int, float]) -> int:
    """The fewest threads that are nearly as fast as the best. curve: milliseconds by number of threads."""
    least = min(curve.values())
    return min(count for count, taken in curve.items() if taken <= least * NEAR)


def advice(curve: Mapping[int, float], processor: str, engine: str) -> str:
    """Sentences for a person who sets the number."""
    measured = ", ".join(f"{taken:.0f} ms with {_threads(count)}" for count, taken in sorted(curve.items()))
    return (
        f"Measured with {engine} on the machine that made this bundle ({processor}), not on a phone: {measured}. There "
        f"{_threads(advised_threads(curve))} would do. On a phone begin with the number of its fast cores, at most 4, "
        "and keep the fewest that are within a tenth of the best: threads on slow cores hold up the others and cost "
        "battery."
    )


def _threads(count: int) -> str:
    return "one thread" if count == 1 else f"{count} threads"
