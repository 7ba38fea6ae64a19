"""Keeper: closes what must not be closed while Python collects garbage.

Garbage is collected wherever memory is asked for, and so under any lock: also while a thread is being started or work
is handed to a pool. A finalizer that does either then waits for a lock that its own thread holds, for ever.
"""

from __future__ import annotations

import atexit
import itertools
import weakref
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Keeper(Generic[T]):
    """Keeps things open until their owner closes them; if it is gone without that, until :meth:`tidy` or the exit.

    close: of one thing.
    """

    def __init__(self, close: Callable[[T], None]) -> None:
        self._close = close
        self._open: dict[int, T] = {}
        self._left: deque[int] = deque()
        self._numbers = itertools.count()
        atexit.register(self._close_all)

    def keep(self, owner: object, thing: T) -> Callable[[], None]:
        """Keep ``thing``, which must not refer to ``owner``; gives what closes it, now and once."""
        number = next(self._numbers)
        self._open[number] = thing
        # Appending takes no lock. At the exit all are closed, whoever still has an owner.
        weakref.finalize(owner, self._left.append, number).atexit = False
        return lambda: self._close_one(number)

    def tidy(self) -> None:
        """Close what owners that are gone have left open."""
        while self._left:
            self._close_one(self._left.popleft())

    def _close_one(self, number: int) -> None:
        if number in self._open:
            self._close(self._open.pop(number))

    def _close_all(self) -> None:
        for number in tuple(self._open):
            self._close_one(number)
