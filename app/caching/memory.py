"""MemoryCache: what was made lately, within so many bytes and for so many seconds."""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

V = TypeVar("V")

ENTRY_BYTES: Final = 1024
"""What an entry costs besides its value: two dictionaries' slots, the key, the objects. Rounded up."""

LARGEST_SHARE: Final = 4
"""A value may take one part in so many of the whole: a single huge one must not push out everything else."""

SWEEP_PAUSE: Final = 1.0
"""Seconds between two looks for what is over; each costs a thread's start."""


class Alarm(Protocol):
    """Something that will be called later."""

    def cancel(self) -> None:
        """It will not be."""
        ...


Later: TypeAlias = Callable[[float, Callable[[], None]], Alarm]
"""Calls a method after so many seconds."""


@dataclass(frozen=True, slots=True)
class _Entry(Generic[V]):
    value: V
    size: int
    over: float


class MemoryCache(Generic[V]):
    """Values by key; the least recently used go first. Safe for threads.

    limit: bytes of all entries together; 0 keeps nothing. seconds: after which a value is let go, asked for or not.
    size_of: bytes of a value. changed: told bytes and number of the entries after each change, under the lock.
    """

    def __init__(
        self,
        limit: int,
        seconds: float,
        *,
        size_of: Callable[[V], int],
        changed: Callable[[int, int], None],
        clock: Callable[[], float] = time.monotonic,
        later: Later | None = None,
    ) -> None:
        self._limit = limit
        self._seconds = seconds
        self._size_of = size_of
        self._changed = changed
        self._clock = clock
        self._later = later or _by_timer
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _Entry[V]] = OrderedDict()
        # The keys once more, oldest first: entries move when they are used, these do not.
        self._ages: OrderedDict[str, None] = OrderedDict()
        self._held = 0
        self._alarm: Alarm | None = None

    def fits(self, size: int) -> bool:
        """Whether a value of so many bytes would be kept."""
        return (size + ENTRY_BYTES) * LARGEST_SHARE <= self._limit

    def get(self, key: str) -> V | None:
        """The value of ``key``, or None where there is none or its time is over."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.over <= self._clock():
                return None
            self._entries.move_to_end(key)
            return entry.value

    def put(self, key: str, value: V) -> None:
        """Keep ``value``, unless it does not fit."""
        size = self._size_of(value)
        if not self.fits(size):
            return
        with self._lock:
            self._drop(key)
            self._entries[key] = _Entry(value, size + ENTRY_BYTES, self._clock() + self._seconds)
            self._ages[key] = None
            self._held += size + ENTRY_BYTES
            while self._held > self._limit:
                self._drop(next(iter(self._entries)))
            self._tell()

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._entries.clear()
            self._ages.clear()
            self._held = 0
            self._tell()

    def _sweep(self) -> None:
        with self._lock:
            self._alarm = None
            while self._ages and self._oldest().over <= self._clock():
                self._drop(next(iter(self._ages)))
            self._tell()

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            del self._ages[key]
            self._held -= entry.size

    def _tell(self) -> None:
        self._changed(self._held, len(self._entries))
        if self._alarm is not None and not self._entries:
            self._alarm.cancel()
            self._alarm = None
        elif self._alarm is None and self._entries:
            self._alarm = self._later(max(self._oldest().over - self._clock(), SWEEP_PAUSE), self._sweep)

    def _oldest(self) -> _Entry[V]:
        return self._entries[next(iter(self._ages))]


def _by_timer(seconds: float, method: Callable[[], None]) -> Alarm:
    # A cache that nobody holds any more is not kept in memory until its alarm rings.
    target = weakref.WeakMethod(method)
    timer = threading.Timer(seconds, _call, (target,))
    timer.daemon = True
    timer.start()
    return timer


def _call(target: weakref.WeakMethod[Callable[[], None]]) -> None:
    method = target()
    if method is not None:
        method()
