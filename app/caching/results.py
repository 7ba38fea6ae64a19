"""ResultCache: answers in memory and on other machines, and drawings from which further answers are made."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from app.caching.flight import SingleFlight
from app.caching.keys import Keys
from app.caching.memory import MemoryCache
from app.caching.packing import packed, unpacked
from app.conversion import Drawn, Result
from app.deadline import Deadline
from app.telemetry.observer import CacheOutcome, Observer


@dataclass(frozen=True, slots=True)
class Bounds:
    """answers, drawings: bytes of memory for each; 0 keeps none. seconds: for which they are kept."""

    answers: int
    drawings: int
    seconds: int


class Shared(Protocol):
    """Packed answers of all machines; it is quick, and raises nothing (app.caching.shared)."""

    def get(self, key: str) -> bytes | None:
        """The value of ``key``, or None."""
        ...

    def put(self, key: str, value: bytes) -> None:
        """Keep ``value`` some time soon."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class ResultCache:
    """What was made lately. Safe for threads; belongs to one process.

    shared: None where there are no other machines.
    """

    def __init__(
        self,
        bounds: Bounds,
        shared: Shared | None,
        observer: Observer,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.answers: MemoryCache[Result] = MemoryCache(
            bounds.answers,
            bounds.seconds,
            size_of=lambda result: len(result.image),
            changed=partial(observer.cache_holds, "answer"),
        )
        self.drawings: MemoryCache[Drawn] = MemoryCache(
            bounds.drawings, bounds.seconds, size_of=_bytes_of, changed=partial(observer.cache_holds, "drawing")
        )
        self.flights: SingleFlight[Result] = SingleFlight()
        self._shared = shared
        self._observer = observer
        self._clock = clock

    def answer(
        self, keys: Callable[[], Keys], make: Callable[[Keys], Result], deadline: Deadline, name: str = ""
    ) -> Result:
        """The answer of ``keys``: remembered, or by ``make``, once however many ask at the same time.

        Its ``cache`` tells which; its ``timings`` are of what was done for this request alone, the making of the keys
        included. name: as of SingleFlight.get. Raises what ``make`` raises, and what ``deadline`` raises for who waits
        for another's.
        """
        asked = self._clock()
        named = keys()
        found = self.answers.get(named.answer)
        if found is not None:
            return self._told(found, "hit", asked)
        leads = False

        def lead() -> Result:
            nonlocal leads
            leads = True
            return self._lead(named, make, asked)

        landed = self.flights.get(named.answer, lead, deadline, name)
        return landed if leads else self._told(landed, "joined", asked)

    def drawn(self, keys: Keys) -> Drawn | None:
        """The drawing of ``keys``, if it is remembered; its arrays are read-only."""
        asked = self._clock()
        found = self.drawings.get(keys.drawing)
        self._observer.cache_asked("drawing", "miss" if found is None else "hit", self._clock() - asked)
        return found

    def keep(self, keys: Keys, drawn: Drawn) -> None:
        """Remember ``drawn``, unless it is too large."""
        if self.drawings.fits(_bytes_of(drawn)):
            self.drawings.put(keys.drawing, _own(drawn))

    def close(self) -> None:
        """Let go of everything."""
        self.answers.clear()
        self.drawings.clear()
        if self._shared is not None:
            self._shared.close()

    def _lead(self, keys: Keys, make: Callable[[Keys], Result], asked: float) -> Result:
        key = keys.answer
        # It may have landed between the look into memory and the turn to make it.
        found = self.answers.get(key)
        if found is not None:
            return self._told(found, "hit", asked)
        found = self._from_elsewhere(key)
        if found is not None:
            self.answers.put(key, found)
            return self._told(found, "shared", asked)
        seconds = self._tell("miss", asked)
        made = make(keys)
        self.answers.put(key, made)
        if self._shared is not None:
            self._shared.put(key, packed(made))
        return replace(made, cache="miss", timings={"cache": seconds, **made.timings})

    def _from_elsewhere(self, key: str) -> Result | None:
        data = self._shared.get(key) if self._shared is not None else None
        return None if data is None else unpacked(data)

    def _told(self, result: Result, outcome: CacheOutcome, asked: float) -> Result:
        return replace(result, cache=outcome, timings={"cache": self._tell(outcome, asked)})

    def _tell(self, outcome: CacheOutcome, asked: float) -> float:
        seconds = self._clock() - asked
        self._observer.cache_asked("answer", outcome, seconds)
        return seconds


def _bytes_of(drawn: Drawn) -> int:
    return drawn.photo.nbytes + drawn.drawing.nbytes + (0 if drawn.alpha is None else drawn.alpha.nbytes)


def _own(drawn: Drawn) -> Drawn:
    """Arrays of its own, which nobody can change: a view would keep all of what it is a part of in memory."""
    alpha = None if drawn.alpha is None else _frozen(drawn.alpha)
    return replace(drawn, photo=_frozen(drawn.photo), drawing=_frozen(drawn.drawing), alpha=alpha)


def _frozen(array: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    copy = array.copy()
    copy.flags.writeable = False
    return copy
