"""Ticket: one conversion on its way through the service."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from app.admission.work import LARGE_PIXELS, Work


@dataclass(eq=False, slots=True)
class Ticket:
    """What is known of one conversion; times in seconds on the clock of its Floor.

    arrived, until: from when it waits, and until when it is any use. name: by which its sender may ask for it; empty
    for none. expected, used: of the whole machine's time. more: pixels that turned up on the way, None while that is
    not known. patience: until then work that came later and is shorter may go first. turn: set once it may begin.
    """

    work: Work
    arrived: float
    until: float
    name: str = ""
    expected: float = 0.0
    used: float = 0.0
    more: float | None = None
    patience: float = 0.0
    turn: threading.Event = field(default_factory=threading.Event)

    @property
    def large(self) -> bool:
        """Whether it goes in the lane beside the small."""
        return self.work.pixels + (self.more or 0.0) > LARGE_PIXELS

    @property
    def left(self) -> float:
        """Seconds of the machine that it is expected to need yet. Who has had more than expected is nearly done."""
        return max(self.expected - self.used, self.expected * _NEARLY_DONE)


_NEARLY_DONE = 0.1
