"""What the order of the queue does to whom: ``python -m tools.simulate_queue``.

Runs the queue that serves (app.admission.floor) on a clock of its own, with conversions that take what is drawn for
them and share the machine evenly: hours of traffic in seconds, the same on every machine. Prints a Markdown table of
how long people wait for their pictures under each way of ordering, by kind of picture.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.admission.floor import AGEING, Floor, Refused
from app.admission.pace import Pace
from app.admission.ticket import Ticket
from app.admission.work import Work
from tools.command import run_command

SECONDS_A_PIXEL: Final = 0.2e-6
DEADLINE: Final = 60.0
MOST: Final = 64
RUNS: Final = 2
LANES: Final = 3
SPREAD: Final = 0.3
"""Of the logarithm of what conversions of a kind take."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Pictures of a sort. pixels: of work each. share: of all requests."""

    name: str
    pixels: float
    share: float


KINDS: Final = (
    Kind("usual", 450_000, 0.90),
    Kind("faces", 1_400_000, 0.09),
    Kind("original", 40_000_000, 0.01),
)


@dataclass(frozen=True, slots=True)
class Order:
    """A way of ordering. ageing: see Floor. apart: whether large work has a lane of its own."""

    name: str
    ageing: float
    apart: bool = True


ORDERS: Final = (
    Order("as they come, one line", 0.0, apart=False),
    Order("shortest first, one line", 1e6, apart=False),
    Order("shortest first with ageing 3, one line", 3.0, apart=False),
    Order("as they come, large apart", 0.0),
    Order("shortest first with ageing 3, large apart", 3.0),
    Order("shortest first, large apart", 1e6),
)
"""An ageing of a million is none."""


@dataclass(slots=True)
class Seen:
    """What became of the pictures of one kind. waits: seconds from coming to answer. refused, late: how many."""

    waits: list[float] = field(default_factory=list)
    refused: int = 0
    late: int = 0


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.simulate_queue",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--hours", type=float, default=2.0, help="of traffic for each line (default: %(default)s)")
    parser.add_argument("--loads", type=float, nargs="+", default=[0.7, 0.95, 2.0], help="of what the machine can do")
    options = parser.parse_args(arguments)
    print(f"The queue serves with ageing {AGEING:g}, large apart.\n")
    print("| Load | Order | " + " | ".join(f"{kind.name}: p50 / p95, s" for kind in KINDS) + " | refused | late |")
    print("|---|---|" + "---|" * (len(KINDS) + 2))
    for load in options.loads:
        for order in ORDERS:
            print(_row(load, order, simulate(order, load, options.hours * 3600)), flush=True)


def _row(load: float, order: Order, seen: dict[str, Seen]) -> str:
    cells = [_waits(seen[kind.name].waits) for kind in KINDS]
    refused, late = (" / ".join(_share(seen[kind.name], what) for kind in KINDS) for what in ("refused", "late"))
    return f"| {load:g} | {order.name} | " + " | ".join(cells) + f" | {refused} | {late} |"


def _waits(waits: Sequence[float]) -> str:
    if len(waits) < 2:
        return "-"
    return f"{statistics.median(waits):.1f} / {statistics.quantiles(waits, n=20, method='inclusive')[-1]:.1f}"


def _share(seen: Seen, what: str) -> str:
    came = len(seen.waits) + seen.refused + seen.late
    return f"{100 * getattr(seen, what) / came:.0f} %" if came else "-"


def simulate(order: Order, load: float, seconds: float, seed: int = 1) -> dict[str, Seen]:
    """What becomes of ``seconds`` of traffic that wants ``load`` times what the machine can do."""
    traffic = list(_traffic(load, seconds, random.Random(seed)))  # noqa: S311
    return _Machine(order).serve(traffic)


def _traffic(load: float, seconds: float, chance: random.Random) -> Iterator[tuple[float, Kind, float]]:
    """(when, what, seconds of the machine that it really takes)."""
    mean = sum(kind.share * kind.pixels for kind in KINDS) * SECONDS_A_PIXEL * math.exp(SPREAD**2 / 2)
    now = 0.0
    while now < seconds:
        now += chance.expovariate(load / mean)
        kind = chance.choices(KINDS, [kind.share for kind in KINDS])[0]
        yield now, kind, kind.pixels * SECONDS_A_PIXEL * chance.lognormvariate(0, SPREAD)


class _Machine:
    """Serves on a floor; those under way share it evenly, as Floor expects."""

    def __init__(self, order: Order) -> None:
        # Where nothing is to be large, the same work is told in smaller numbers.
        self._scale = 1.0 if order.apart else 1e-3
        pace = Pace(first_guess=SECONDS_A_PIXEL / self._scale)
        self._floor = Floor(pace, lanes=LANES, runs=RUNS, most=MOST, ageing=order.ageing)
        self._needs: dict[Ticket, float] = {}
        self._left: dict[Ticket, float] = {}
        self._seen: dict[str, Seen] = defaultdict(Seen)

    def serve(self, traffic: Sequence[tuple[float, Kind, float]]) -> dict[str, Seen]:
        now = 0.0
        for when, kind, needs in traffic:
            now = self._work_until(now, when)
            self._come(now, kind, needs)
        self._work_until(now, math.inf)
        return self._seen

    def _come(self, now: float, kind: Kind, needs: float) -> None:
        ticket = Ticket(Work(kind.name, kind.pixels * self._scale), arrived=now, until=now + DEADLINE)
        self._needs[ticket] = needs
        try:
            self._floor.enter(ticket, now)
        except Refused:
            self._seen[kind.name].refused += 1
            return
        self._call(now)

    def _work_until(self, now: float, end: float) -> float:
        while self._left:
            first = min(self._left, key=self._left.__getitem__)
            step = self._left[first] * len(self._left)
            if now + step > end:
                self._spend(end - now)
                return end
            self._spend(step)
            now += step
            self._finish(first, now)
        return end

    def _spend(self, seconds: float) -> None:
        for ticket in self._left:
            self._left[ticket] -= seconds / len(self._left)

    def _finish(self, ticket: Ticket, now: float) -> None:
        del self._left[ticket]
        seen = self._seen[ticket.work.kind]
        if now > ticket.until:
            seen.late += 1
        else:
            seen.waits.append(now - ticket.arrived)
        self._floor.leave(ticket, now, done=True)
        self._call(now)

    def _call(self, now: float) -> None:
        for late in [ticket for ticket in self._floor.waiting if now > ticket.until]:
            self._seen[late.work.kind].late += 1
            self._floor.leave(late, now, done=False)
        for ticket in self._floor.calls(now):
            self._left[ticket] = self._needs.pop(ticket)


if __name__ == "__main__":
    run_command(main)
