"""Where the time of one conversion went."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext


class Stopwatch:
    """Adds up seconds per stage. Stages nest: an inner stage's time does not count for the outer one.

    ``around``: what goes around each stage besides, by its name. For one thread.
    """

    def __init__(
        self,
        stages: tuple[str, ...],
        clock: Callable[[], float] = time.perf_counter,
        around: Callable[[str], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._clock = clock
        self._around = around
        self._spent = dict.fromkeys(stages, 0.0)
        self._running: list[str] = []
        self._since = clock()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time inside the ``with`` block for ``name``, one of the stages named at the start."""
        self._lap()
        self._running.append(name)
        try:
            with self._around(name):
                yield
        finally:
            self._lap()
            self._running.pop()

    def _lap(self) -> None:
        now = self._clock()
        if self._running:
            self._spent[self._running[-1]] += now - self._since
        self._since = now

    def seconds(self) -> Mapping[str, float]:
        """Seconds of every stage so far, zero for those not entered."""
        return dict(self._spent)
