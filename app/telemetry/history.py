"""The last hour, minute by minute: what became of the requests for pictures. For the page of the owner.

Kept as it happens, so that nothing runs while nothing happens.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from app.telemetry.minutes import KEPT_MINUTES, SIZE, SUFFIX, Minute, add_to_slot, merged, minute_now, read_slots
from app.telemetry.shared import Shared

Outcome: TypeAlias = Literal["picture", "refused", "failed", "mistaken"]
"""``picture``: a picture was sent. ``refused``: too busy, or too many from one client. ``failed``: a fault of the
service. ``mistaken``: the request itself was at fault."""


class History:
    """The last hour of this process; where there is a ``shared`` folder, in a file that the others read."""

    def __init__(self, shared: Shared | None = None) -> None:
        self._shared = shared
        self._lock = threading.Lock()
        self._pid = 0
        self._slots = mmap.mmap(-1, SIZE)

    def add(self, outcome: Outcome, seconds: float = 0.0) -> None:
        """One request had ``outcome``; ``seconds`` count for pictures only."""
        added = Minute(**{outcome: 1}, seconds=seconds if outcome == "picture" else 0.0)
        with self._lock:
            add_to_slot(self._own_slots(), minute_now(), added)

    def minutes(self) -> Mapping[int, Minute]:
        """What is known of the last hour, by the number of the minute; those in which nothing happened are left out."""
        known = self._shared.minutes() if self._shared else merged([read_slots(self._slots)])
        return {number: minute for number, minute in known.items() if number > minute_now() - KEPT_MINUTES}

    def _own_slots(self) -> mmap.mmap:
        # A service that is built before a fork counts in its children.
        if self._shared and self._pid != os.getpid():
            self._pid = os.getpid()
            self._slots = _mapped(self._shared.folder / f"{self._pid}{SUFFIX}")
        return self._slots


def _mapped(path: Path) -> mmap.mmap:
    with path.open("w+b") as file:
        file.truncate(SIZE)
        return mmap.mmap(file.fileno(), SIZE)
