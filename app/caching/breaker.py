"""How to live with a neighbour that fails: leave it alone for a while, and tell of it seldom."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Breaker:
    """Opens after so many ``failures`` in a row, and lets one caller in each ``pause`` (seconds) try again.

    Safe for threads.
    """

    def __init__(self, *, failures: int, pause: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = failures
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._closed_until = 0.0

    def lets_through(self) -> bool:
        """Whether to try; whoever is let through tells by :meth:`record` how it went."""
        with self._lock:
            if self._failed < self._most:
                return True
            if self._clock() < self._closed_until:
                return False
            self._closed_until = self._clock() + self._pause
            return True

    def record(self, *, succeeded: bool) -> None:
        """How a try went."""
        with self._lock:
            self._failed = 0 if succeeded else self._failed + 1
            self._closed_until = self._clock() + self._pause


class Seldom:
    """Says yes once in ``pause`` seconds. Safe for threads."""

    def __init__(self, pause: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._quiet_until: float | None = None

    def is_due(self) -> bool:
        """Whether the last yes is long enough ago."""
        with self._lock:
            now = self._clock()
            if self._quiet_until is not None and now < self._quiet_until:
                return False
            self._quiet_until = now + self._pause
            return True
