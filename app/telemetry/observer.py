"""What happens in the service, told to whoever wants to count it.

The parts of the service call an Observer and know nothing of metrics; ``create_app`` hands them one that counts
(app.telemetry.metrics), the command line and plain Python one that forgets. Every method is safe for threads, quick
(microseconds) and raises nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    # gunicorn's master imports this, and stays small without numpy.
    from app.types import StyleId

CacheLevel: TypeAlias = Literal["answer", "drawing"]
"""``answer``: encoded pictures. ``drawing``: stylised arrays, for another strength or format of the same picture."""

CacheOutcome: TypeAlias = Literal["hit", "shared", "joined", "miss"]
"""``hit``: it was in this process. ``shared``: it was in the cache of all machines. ``joined``: another request was
about to make it, and this one waited for that. ``miss``: it had to be made."""

RefusalCause: TypeAlias = Literal["queue", "deadline", "memory", "uploads"]
"""What was full. ``queue``: as many wait as may. ``deadline``: it would not have been done in time. ``memory``: its
expected peak did not fit. ``uploads``: as many uploads are inside as may, or their bodies take all their room."""


class Observer:
    """Told what happens. This one forgets it: override what is of interest."""

    def request_answered(self, route: str, status: int, style: StyleId | None, seconds: float) -> None:
        """One answer went out. route: the rule of its address. style: None where no picture was asked for in one."""

    def request_rejected(self, reason: str) -> None:
        """One request for a picture got none. reason: the code of its error (app.errors), or of app.serving's own."""

    def refused(self, cause: RefusalCause) -> None:
        """One was turned away before any work, because something was full; its error is counted besides."""

    def converted(self, style: StyleId, stages: Mapping[str, float]) -> None:
        """One picture was made, not taken from a cache. stages: seconds spent in each."""

    def queue_holds(self, waiting: int) -> None:
        """So many conversions wait for their turn in this process, from now on."""

    def turn_came(self, waited: float) -> None:
        """A conversion had waited so many seconds for its turn; 0 where it had not to."""

    def under_way(self, conversions: int) -> None:
        """So many conversions have their turn in this process, from now on."""

    def batch_ran(self, style: StyleId, pictures: int) -> None:
        """A network of ``style`` ran once, over so many pictures."""

    def cache_asked(self, level: CacheLevel, outcome: CacheOutcome, seconds: float) -> None:
        """A cache was asked, and had the outcome after so many seconds (for ``miss``: the asking alone)."""

    def cache_holds(self, level: CacheLevel, bytes: int, entries: int) -> None:
        """A cache of this process has that size from now on."""

    def span(self, name: str) -> AbstractContextManager[object]:
        """Goes around a piece of work in its own thread, for traces. name: one of few, never a client's."""
        return nullcontext()

    def shared_cache_failed(self) -> None:
        """The cache of all machines was too slow, full or gone; the request went on without it."""


UNOBSERVED: Final = Observer()
"""Where nobody looks."""
