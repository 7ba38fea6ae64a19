"""How network runs share the processors: a lone one has them all, several have a share each."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.types import Session, Tensor


class Gate:
    """Lets at most ``most`` network runs go on at once, over all networks of a process.

    A run that nobody else waits beside goes alone: it is the fastest for the one who waits for it. Where several want
    in, they go side by side: together they get more done (docs/performance/session.md).
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._inside = 0
        self._waiting = 0
        self._alone = False

    @contextmanager
    def place(self) -> Iterator[bool]:
        """Wait for a place and hold it; True where the run goes alone. A wait is short: one run of a network."""
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(self._has_room)
            self._waiting -= 1
            self._inside += 1
            self._alone = self._most == 1 or (self._inside == 1 and not self._waiting)
            alone = self._alone
        try:
            yield alone
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @property
    def waiting(self) -> int:
        """Runs that wait for a place at this moment."""
        return self._waiting

    def _has_room(self) -> bool:
        return self._inside == 0 or (not self._alone and self._inside < self._most)


class GatedSession:
    """One network behind a gate.

    alone: the session for a run that has every processor. beside: the one for runs that share them; both give the
    same output.
    """

    def __init__(self, alone: Session, beside: Session, gate: Gate) -> None:
        self._alone = alone
        self._beside = beside
        self._gate = gate

    def run(self, tensor: Tensor) -> Tensor:
        """As the sessions' own ``run``, after waiting for a place."""
        with self._gate.place() as alone:
            return (self._alone if alone else self._beside).run(tensor)
