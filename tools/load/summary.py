"""Many replies in a few numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tools.load.client import Reply


@dataclass(frozen=True, slots=True)
class Summary:
    """Of one stage. Times in milliseconds; those of pictures and those of refusals apart. rates: a second.

    hits: pictures that came from a cache; hits_p50 is what half of them took at most by the service's own account.
    failures: whatever is neither a picture nor a due refusal, by what it was.
    mib: the service's memory at the stage's start, at its most and at its end.
    """

    name: str
    seconds: float
    sent: int
    pictures: int
    rate: float
    p50: float
    p95: float
    p99: float
    hits: int
    hits_p50: float
    refused: int
    refused_p50: float
    refused_p99: float
    failures: dict[str, int]
    mib: tuple[float, float, float]


def summarise(name: str, replies: Sequence[Reply], seconds: float, memory: Sequence[float]) -> Summary:
    """What ``replies`` come to. ``seconds``: how long sending and waiting took in all."""
    pictures = [reply for reply in replies if reply.status == 200]
    refused = [reply for reply in replies if reply.refused]
    others = Counter(_what(reply) for reply in replies if reply.status != 200 and not reply.refused)
    hits = [reply for reply in pictures if reply.headers.get("x-cache") in ("hit", "shared")]
    served, turned_away = _milliseconds(pictures), _milliseconds(refused)
    return Summary(
        name=name,
        seconds=round(seconds, 2),
        sent=len(replies),
        pictures=len(pictures),
        rate=round(len(pictures) / seconds, 2) if seconds else 0.0,
        p50=percentile(served, 50),
        p95=percentile(served, 95),
        p99=percentile(served, 99),
        hits=len(hits),
        hits_p50=percentile([_at_service(reply) for reply in hits], 50),
        refused=len(refused),
        refused_p50=percentile(turned_away, 50),
        refused_p99=percentile(turned_away, 99),
        failures=dict(others),
        mib=(round(memory[0], 1), round(max(memory), 1), round(memory[-1], 1)) if memory else (0.0, 0.0, 0.0),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The least of ``values`` that ``share`` percent of them do not exceed (nearest rank); 0 of none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return round(ordered[max(0, math.ceil(len(ordered) * share / 100) - 1)], 1)


def _at_service(reply: Reply) -> float:
    """Milliseconds of the whole request by the Server-Timing header."""
    found = re.search(r"\btotal;dur=([0-9.]+)", reply.headers.get("server-timing", ""))
    return float(found[1]) if found else reply.seconds * 1000


def _milliseconds(replies: Sequence[Reply]) -> list[float]:
    return [reply.seconds * 1000 for reply in replies]


def _what(reply: Reply) -> str:
    return f"{reply.status} {reply.code}".strip() if reply.status else reply.error
