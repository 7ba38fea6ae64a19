"""Desk: where conversions come to be let in, wait for their turn, and say that they are gone. Safe for threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.admission.floor import Floor, Refused
from app.admission.ticket import Ticket
from app.admission.work import Work
from app.deadline import Deadline
from app.telemetry.observer import UNOBSERVED, Observer

State: TypeAlias = Literal["waiting", "working"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversion is. before: how many are served before it. seconds: until it should be done."""

    state: State
    before: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Crowd:
    """How full it is. seconds: until all that is here now should be done."""

    waiting: int
    working: int
    seconds: float


@dataclass(eq=False, slots=True)
class _Waiter:
    """Somebody's thread that waits for a turn. dropped: why it will never come."""

    ticket: Ticket
    deadline: Deadline
    dropped: Exception | None = None


class Desk:
    """Before a ``floor``, on whose clock it acts. What happens is told to ``observer``."""

    def __init__(
        self, floor: Floor, observer: Observer = UNOBSERVED, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._floor = floor
        self._observer = observer
        self._clock = clock
        self._lock = threading.Lock()
        self._waiters: dict[Ticket, _Waiter] = {}
        self._names: dict[str, Ticket] = {}

    @contextmanager
    def turn(self, work: Work, deadline: Deadline, name: str = "") -> Iterator[Callable[[float], None]]:
        """Wait until ``work`` may begin, and hold its place for the ``with`` block.

        Gives what is to be told how many pixels more turned up on the way. name: see :meth:`place`. Raises Overloaded
        or TooLargeToDraw at once where it is no use to wait, and while it waits what ``deadline`` raises.
        """
        ticket = self._enter(work, deadline, name)
        done = False
        try:
            self._await_turn(self._waiters[ticket])
            yield lambda pixels: self._found_more(ticket, pixels)
            done = True
        finally:
            self._leave(ticket, done=done)

    def place(self, name: str) -> Place | None:
        """Where the conversion of that name is, or None where there is none such here now."""
        with self._lock:
            ticket = self._names.get(name)
            if ticket is None:
                return None
            waits = not ticket.turn.is_set()
            before = self._floor.before(ticket) if waits else 0
            return Place("waiting" if waits else "working", before, self._floor.seconds(ticket, self._clock()))

    def crowd(self) -> Crowd:
        """How full it is."""
        with self._lock:
            now = self._clock()
            return Crowd(len(self._floor.waiting), len(self._floor.working), self._floor.backlog(now))

    def _enter(self, work: Work, deadline: Deadline, name: str) -> Ticket:
        deadline.check()
        with self._lock:
            self._drop_given_up()
            now = self._clock()
            ticket = Ticket(work, arrived=now, until=now + deadline.remaining(), name=name)
            try:
                self._floor.enter(ticket, now)
            except Refused as refused:
                self._observer.refused(refused.cause)
                # Those who have been dropped may have been in somebody's way.
                self._call(now)
                raise refused.error from None
            self._waiters[ticket] = _Waiter(ticket, deadline)
            if name:
                self._names[name] = ticket
            self._call(now)
            return ticket

    def _await_turn(self, waiter: _Waiter) -> None:
        if not waiter.ticket.turn.wait(timeout=waiter.deadline.remaining()):
            # Unless the turn came this very moment, it is given up; the deadline knows why.
            raise waiter.deadline.exceeded()
        if waiter.dropped is not None:
            raise waiter.dropped

    def _leave(self, ticket: Ticket, *, done: bool) -> None:
        with self._lock:
            now = self._clock()
            if self._waiters.pop(ticket).dropped is None:
                self._floor.leave(ticket, now, done=done)
            if self._names.get(ticket.name) is ticket:
                del self._names[ticket.name]
            self._drop_given_up()
            self._call(self._clock())

    def _found_more(self, ticket: Ticket, pixels: float) -> None:
        with self._lock:
            now = self._clock()
            self._floor.found_more(ticket, pixels, now)
            self._call(now)

    def _call(self, now: float) -> None:
        for ticket in self._floor.calls(now):
            self._observer.turn_came(now - ticket.arrived)
            ticket.turn.set()
        self._observer.queue_holds(len(self._floor.waiting))
        self._observer.under_way(len(self._floor.working))

    def _drop_given_up(self) -> None:
        """With the lock held: send away those whose client has gone or whose deadline has passed."""
        now = self._clock()
        for ticket in self._floor.waiting:
            waiter = self._waiters[ticket]
            try:
                waiter.deadline.check()
            except Exception as error:
                waiter.dropped = error
                self._floor.leave(ticket, now, done=False)
                ticket.turn.set()
