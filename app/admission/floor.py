"""Floor: who works and who waits, and for how long yet. No threads and no clock: who asks says what time it is.

Order. Shorter work goes first, but only as long as the longer has patience, which grows with its length: what is
expected to take ten times as long waits ten times as long for others, at most. Nobody is overtaken who would then miss
its deadline. Large work has a lane of its own beside the small, and shares the machine with it; so has quick work,
which waits for no network.

Estimates. Conversions under way share the machine evenly: each is charged its share of every second. What that came to
teaches the pace; what is left, for all that is before one, is how long one has to wait. Large work takes so long that
it is not those who are here that it shares the machine with, but those who will come: as many as came lately.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from app.admission.memory import Memory
from app.admission.pace import Pace
from app.admission.ticket import Ticket
from app.errors import AnimeBoothError, Overloaded, TooLargeToDraw
from app.telemetry.observer import RefusalCause

AGEING: Final = 3.0
"""How many times its own length work lets shorter work go first (docs/performance/admission.md)."""

LARGE_LANES: Final = 1
"""Large conversions under way at once: each holds a picture of many megapixels in several copies."""

QUICK_LANES: Final = 1
"""Quick ones under way at once, beside the others: each takes some hundredths of a second."""

CAUTION: Final = 1.25
"""How much longer than expected everything may take before a promise is broken: machines have other things to do."""

LATELY: Final = 20.0
"""Seconds after which what was a third of the traffic counts no more for the mean."""

_LONGEST_TOLD: Final = 3600.0


class Refused(Exception):
    """Not let in. cause: what was full. error: what its sender is told."""

    def __init__(self, cause: RefusalCause, error: AnimeBoothError) -> None:
        super().__init__(cause)
        self.cause: RefusalCause = cause
        self.error = error


class Floor:
    """For one thread at a time; ``now`` never goes back.

    lanes: conversions under way at once. runs: how many of those the networks keep busy. most: conversions under way
    and waiting.
    """

    def __init__(
        self, pace: Pace, *, lanes: int, runs: int, most: int, memory: Memory | None = None, ageing: float = AGEING
    ) -> None:
        self._pace = pace
        self._lanes = lanes
        self._runs = runs
        self._most = most
        self._memory = memory or Memory()
        self._ageing = ageing
        self._working: list[Ticket] = []
        self._line: list[Ticket] = []
        self._told = 0.0
        self._small_lately = 0.0
        """How many small ones were under way at once, in the mean of late."""

    @property
    def waiting(self) -> tuple[Ticket, ...]:
        """Those whose turn has not come, in the order in which it will."""
        return tuple(self._line)

    @property
    def working(self) -> tuple[Ticket, ...]:
        """Those under way."""
        return tuple(self._working)

    # Coming and going

    def enter(self, ticket: Ticket, now: float) -> None:
        """``ticket`` waits from now on. Raises Refused where it would be no use."""
        self._charge(now)
        if ticket.work.bytes > self._memory.budget:
            raise Refused("memory", TooLargeToDraw())
        if len(self._working) + len(self._line) >= self._most:
            raise Refused("queue", Overloaded(seconds=told(self.backlog(now))))
        ticket.expected = self._pace.seconds(ticket.work, now=now)
        ticket.patience = ticket.arrived + self._ageing * ticket.expected
        place = self._place_for(ticket, now)
        self._line.insert(place, ticket)
        late = self._lateness(ticket, now)
        # With nobody else there it may try: what was learned of its kind may be wrong, or no longer so.
        if late > 0 and len(self._working) + len(self._line) > 1:
            del self._line[place]
            raise Refused("deadline", Overloaded(seconds=told(min(late, self.backlog(now)))))

    def _place_for(self, ticket: Ticket, now: float) -> int:
        place = len(self._line)
        while place and self._goes_before(ticket, self._line[place - 1], now):
            place -= 1
        return place

    def _goes_before(self, newcomer: Ticket, other: Ticket, now: float) -> bool:
        if newcomer.patience >= other.patience:
            return False
        return self._lateness(other, now, newcomer.expected) <= 0

    def _lateness(self, ticket: Ticket, now: float, more: float = 0.0) -> float:
        """By how many seconds ``ticket``, with ``more`` of work before it, might be late; at most 0: it will not be."""
        return now + CAUTION * (self.seconds(ticket, now) + more) - ticket.until

    def calls(self, now: float) -> list[Ticket]:
        """Those whose turn has come: they are under way from now on."""
        self._charge(now)
        called: list[Ticket] = []
        for ticket in self.waiting:
            if not self._has_lane(ticket):
                continue
            if self._has_memory(ticket, now):
                self._line.remove(ticket)
                self._working.append(ticket)
                called.append(ticket)
            elif now >= ticket.patience:
                # Nobody else may take the memory that it waits for.
                break
        return called

    def _has_lane(self, ticket: Ticket) -> bool:
        drawing = [other for other in self._working if not other.work.quick]
        if ticket.work.quick:
            return len(self._working) - len(drawing) < QUICK_LANES
        large = sum(other.large for other in drawing)
        if ticket.large:
            return large < LARGE_LANES and len(drawing) < self._lanes
        # What has turned out to be large while under way must not keep the small from the machine.
        return len(drawing) < self._lanes or len(drawing) - large < self._runs

    def _has_memory(self, ticket: Ticket, now: float) -> bool:
        free = self._memory.budget - sum(other.work.bytes for other in self._working) - ticket.work.bytes
        if free >= self._memory.held():
            return True
        if free < 0 or (self._working and now < ticket.patience):
            return False
        self._memory.release()
        return not self._working or free >= self._memory.held()

    def found_more(self, ticket: Ticket, pixels: float, now: float) -> None:
        """``ticket``, under way, has turned out to have so many pixels more to draw."""
        self._charge(now)
        ticket.more = pixels
        ticket.expected = self._pace.seconds(ticket.work, pixels, now=now)

    def leave(self, ticket: Ticket, now: float, *, done: bool) -> None:
        """``ticket`` is gone, with its answer if it is ``done``."""
        self._charge(now)
        if ticket in self._line:
            self._line.remove(ticket)
            return
        self._working.remove(ticket)
        # Who was cut short teaches nothing, unless that it takes longer than was thought.
        if done or ticket.used > ticket.expected:
            self._pace.learn(ticket.work, ticket.more or 0.0, ticket.used, now=now)

    def _charge(self, now: float) -> None:
        spent, self._told = now - self._told, now
        small = sum(not ticket.large for ticket in self._working)
        self._small_lately += (small - self._small_lately) * -math.expm1(-spent / LATELY)
        for ticket in self._working:
            ticket.used += spent / len(self._working)

    # Telling

    def before(self, ticket: Ticket) -> int:
        """How many are served before ``ticket``, which waits: those under way, and those before it in the line."""
        return len(self._same(ticket, self._working)) + len(self._same(ticket, self._ahead(ticket)))

    def seconds(self, ticket: Ticket, now: float) -> float:
        """How long it is expected to take until ``ticket`` is done."""
        self._charge(now)
        if ticket in self._working:
            # All under way have the same share of the machine until the shortest is done.
            own, shared = ticket.left, sum(min(ticket.left, other.left) for other in self._working)
        else:
            own = _left(self._same(ticket, [*self._working, *self._ahead(ticket)])) + ticket.left
            everybody = [*self._working, *self._line]
            # Small and large share the machine as long as there are both.
            shared = own + min(own, _left(everybody) - _left(self._same(ticket, everybody)))
        return max(shared, own * (1 + self._small_lately)) if ticket.large else shared

    def backlog(self, now: float) -> float:
        """Seconds until all that is here now should be done."""
        self._charge(now)
        return _left(self._working) + _left(self._line)

    def _ahead(self, ticket: Ticket) -> list[Ticket]:
        return self._line[: self._line.index(ticket)] if ticket in self._line else self._line

    @staticmethod
    def _same(ticket: Ticket, others: Iterable[Ticket]) -> list[Ticket]:
        return [other for other in others if other.large == ticket.large]


def _left(tickets: Iterable[Ticket]) -> float:
    return sum(ticket.left for ticket in tickets)


def told(seconds: float) -> int:
    """``seconds`` as people are told to come back: whole, at least 1 and no more than an hour."""
    # Rounded first: three times a third of a second is no more than one.
    return math.ceil(round(min(max(seconds, 1.0), _LONGEST_TOLD), 3))
