"""How long one request may still take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from app.errors import ClientGone, DeadlineExceeded


class Deadline:
    """A moment ``seconds`` after ``since`` (monotonic seconds; default: now) at which work is given up.

    gone: whether nobody waits for the work any more, in which case it is given up too; asked at each check. None where
    that cannot be told.
    """

    def __init__(
        self,
        seconds: float,
        *,
        since: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        gone: Callable[[], bool] | None = None,
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._gone = gone
        self._end = (clock() if since is None else since) + seconds

    def remaining(self) -> float:
        """Seconds left; 0 when it has passed. Never more than a lock can wait, however far the end."""
        return min(max(0.0, self._end - self._clock()), threading.TIMEOUT_MAX)

    def check(self) -> None:
        """Raise DeadlineExceeded once it has passed, ClientGone once nobody waits. Serves as a checkpoint of work."""
        if self.remaining() <= 0:
            raise self.exceeded()
        if self._gone is not None and self._gone():
            raise ClientGone

    def exceeded(self) -> DeadlineExceeded:
        """The error to raise for work that this deadline ended."""
        return DeadlineExceeded(seconds=self.seconds)


NO_DEADLINE = Deadline(float("inf"))
"""For work that nobody waits for."""
