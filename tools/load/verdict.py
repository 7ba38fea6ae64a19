"""What is asked of the service when many come, held against what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools.load.summary import Summary

LEAST_SHARE: Final = 0.9
"""Of the best throughput, at every number of clients."""
MOST_REFUSAL_MS: Final = 100.0
"""Median time to say that there is no room."""
MOST_HIT_MS: Final = 5.0
"""Median time of an answer from the cache, at the service."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that is asked. seen: what was."""

    asked: str
    seen: str
    holds: bool


def of_clients(stages: Sequence[Summary]) -> list[Verdict]:
    """Of closed loops with more and more clients."""
    best = max(stage.rate for stage in stages)
    worst = min(stages, key=lambda stage: stage.rate)
    share = worst.rate / best if best else 0.0
    return [
        Verdict(
            f"pictures a second at least {LEAST_SHARE:g} of the best",
            f"{share:.2f} with {worst.name}",
            share >= LEAST_SHARE,
        ),
        _nothing_failed(stages),
    ]


def of_overload(stage: Summary, deadline: float) -> list[Verdict]:
    """Of an open loop far above what the service can make; ``deadline`` in seconds."""
    return [
        Verdict(
            f"p99 of the pictures within the deadline of {deadline:g} s",
            f"{stage.p99 / 1000:.1f} s",
            0 < stage.p99 <= deadline * 1000,
        ),
        Verdict(
            f"half of the refusals within {MOST_REFUSAL_MS:g} ms",
            f"{stage.refused_p50:.0f} ms, {stage.refused} of {stage.sent} refused",
            0 < stage.refused_p50 <= MOST_REFUSAL_MS,
        ),
        _nothing_failed([stage]),
    ]


def of_hits(stage: Summary) -> list[Verdict]:
    """Of one photo again and again."""
    return [
        Verdict(
            f"half of the hits within {MOST_HIT_MS:g} ms at the service",
            f"{stage.hits_p50:.1f} ms, {stage.hits} hits of {stage.sent}",
            stage.hits == stage.sent - 1 and stage.hits_p50 <= MOST_HIT_MS,
        )
    ]


def _nothing_failed(stages: Sequence[Summary]) -> Verdict:
    failures = {f"{count} x {what}" for stage in stages for what, count in stage.failures.items()}
    return Verdict("nothing else fails", "; ".join(sorted(failures)) or "nothing failed", not failures)
