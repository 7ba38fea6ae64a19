"""Pace: how quickly work is done here, learned from work that was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.admission.work import Work

WEIGHT: Final = 0.2
"""Of the latest conversion in the mean; one that is ten conversions old has a tenth of that left."""

STALE: Final = 300.0
"""Seconds after which a kind that was not met since is unknown again. Else one that seemed to take too long while the
machine was busy would be turned away for ever, since nothing more is learned of what is turned away."""

FIRST_GUESS: Final = 0.4e-6
"""Seconds a pixel before anything is known: twice what two server cores take."""


@dataclass(slots=True)
class _Learned:
    """seconds: of the whole machine, a pixel. more: pixels that turned up on the way, faces, as a share of the rest.

    at: when it was learned.
    """

    seconds: float
    more: float = 0.0
    at: float = 0.0


class Pace:
    """Means that forget, one for each kind of work; a kind not met lately goes at the pace of all. For one thread.

    ``now``: seconds on the caller's clock.
    """

    def __init__(self, first_guess: float = FIRST_GUESS, weight: float = WEIGHT) -> None:
        self._weight = weight
        self._all = _Learned(first_guess)
        self._kinds: dict[str, _Learned] = {}

    def seconds(self, work: Work, more: float | None = None, *, now: float = 0.0) -> float:
        """What ``work`` is expected to take if it has the machine to itself.

        more: pixels that have turned up on the way; None where it is not known yet, and the usual is expected.
        """
        own = self._kinds.get(work.kind)
        learned = self._all if own is None or now - own.at > STALE else own
        return (work.pixels + (learned.more * work.pixels if more is None else more)) * learned.seconds

    def learn(self, work: Work, more: float, seconds: float, *, now: float = 0.0) -> None:
        """``work``, in which ``more`` pixels turned up on the way, has taken ``seconds`` of the whole machine."""
        first = self._kinds.setdefault(work.kind, _Learned(seconds / (work.pixels + more), more / work.pixels))
        for learned in (first, self._all):
            learned.seconds += self._weight * (seconds / (work.pixels + more) - learned.seconds)
            learned.more += self._weight * (more / work.pixels - learned.more)
            learned.at = now
