"""Arena: how much memory the runs of all networks take together, and keep afterwards for the next ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Arena:
    """The books of the memory that all sessions of a process share (OrtSession). Safe for threads.

    What one run has left the next one takes, of whatever network it is: kept is the most that was taken at one time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0.0
        self._most = 0.0

    @property
    def held(self) -> int:
        """Bytes that are in use, or kept."""
        with self._lock:
            return round(self._most)

    @contextmanager
    def taking(self, size: float) -> Iterator[None]:
        """A run that takes ``size`` bytes goes on; where it fails, it has taken them all the same."""
        with self._lock:
            self._now += size
            self._most = max(self._most, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= size

    def given_back(self) -> None:
        """What no run uses is kept no longer."""
        with self._lock:
            self._most = self._now
