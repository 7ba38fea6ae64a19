"""What has happened so far, kept as a file so that one can look on."""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tools.command import whole_file
from tools.load.client import Reply
from tools.load.summary import percentile
from tools.soaking.orders import Expected, Order

MOST_GROWTH: Final = 0.05
"""Of the service's memory after the first mark."""
MARK_SECONDS: Final = 60.0
"""A mark is the median of so long."""
CUT_SECONDS: Final = 5.0
"""After a worker's death its connections are found cut within so long."""

_MOST_TOLD: Final = 50
_POLITE: Final = frozenset({"overloaded", "not-ready", "deadline-exceeded"})


@dataclass
class Ledger:
    """counts: of visitors by kind and what became of them. failures: what must not be. kills: monotonic seconds.

    marks: (seconds since the start, MiB of master and workers) every few minutes.
    """

    length: float
    start: float = field(default_factory=time.monotonic)
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    failures: list[str] = field(default_factory=list)
    failed: int = 0
    kills: list[float] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    marks: list[tuple[float, float]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def answered(self, order: Order, expected: Expected, reply: Reply) -> None:
        """One order has come to its end."""
        outcome = self._outcome(expected, reply)
        self.counts["orders"][outcome] += 1
        if reply.status == 200:
            self.milliseconds.append(reply.seconds * 1000)
            self.counts["cache"][reply.headers.get("x-cache", "none")] += 1
        if outcome in ("lost", "wrong"):
            was = f"{reply.status} {reply.code} {reply.digest[:12]} {reply.error}"
            self.fail(f"{outcome}: {order.name}: {was}, not {expected.status} {expected.code} {expected.digest[:12]}")

    def _outcome(self, expected: Expected, reply: Reply) -> str:
        if reply.status == 0:
            return "cut by the kill" if self.was_cut(reply.start, reply.end) else "lost"
        if reply.status == 503 and reply.code in _POLITE:
            return f"refused ({reply.code})"
        if Expected.of(reply) != expected:
            return "wrong"
        return "picture" if reply.status == 200 else "error that was due"

    def was_cut(self, start: float, end: float) -> bool:
        """Whether what began and ended without an answer then (monotonic seconds) was open at a kill, ended by it."""
        return any(start <= kill <= end <= kill + CUT_SECONDS for kill in self.kills)

    def visited(self, kind: str, outcome: str, *, fine: bool = True) -> None:
        """Somebody else has come and gone."""
        self.counts[kind][outcome] += 1
        if not fine:
            self.fail(f"{kind}: {outcome}")

    def fail(self, what: str) -> None:
        """Something that must not be."""
        self.failed += 1
        if len(self.failures) < _MOST_TOLD:
            self.failures.append(f"{self.elapsed:.0f} s: {what}")

    def note(self, what: str) -> None:
        """Something that was done to the service."""
        self.events.append(f"{self.elapsed:.0f} s: {what}")

    def weigh(self, mib: float) -> None:
        """The service's memory now."""
        self.memory.append((self.elapsed, mib))

    def mark(self) -> None:
        """Remember what the service's memory has been of late."""
        latest = [mib for second, mib in self.memory if second > self.elapsed - MARK_SECONDS]
        if latest:
            self.marks.append((round(self.elapsed, 1), round(statistics.median(latest), 1)))

    @property
    def growth(self) -> float | None:
        """By how much the highest later mark is above the first, as a share; None while there is no later one."""
        if len(self.marks) < 2:
            return None
        return max(mib for _, mib in self.marks[1:]) / self.marks[0][1] - 1

    def verdicts(self) -> dict[str, bool]:
        """What is asked of the service, and whether it holds."""
        verdicts = {"no 500, nothing lost, nothing swapped": self.failed == 0}
        if self.growth is not None:
            verdicts[f"memory grows by less than {MOST_GROWTH:.0%} ({self.growth:+.1%})"] = self.growth < MOST_GROWTH
        return verdicts

    def write(self, path: Path) -> None:
        """Write it all, whole or not at all."""
        with whole_file(path) as part:
            part.write_text(json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "elapsed": round(self.elapsed, 1),
            "length": self.length,
            "counts": {kind: dict(counts) for kind, counts in self.counts.items()},
            "milliseconds": {f"p{share}": percentile(self.milliseconds, share) for share in (50, 95, 99)},
            "failed": self.failed,
            "failures": self.failures,
            "kills": len(self.kills),
            "events": self.events,
            "memory_mib": {"marks": self.marks, "growth": self.growth, "now": self.memory[-1:]},
            "verdicts": self.verdicts(),
        }
