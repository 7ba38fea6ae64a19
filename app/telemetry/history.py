"""The last hour, minute by minute: what became of the requests for pictures. For the page of the owner.

Kept as it happens, so that nothing runs while nothing happens.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from app.telemetry.shared import Shared

Outcome: TypeAlias = Literal["picture", "refused", "failed", "mistaken"]
"""``picture``: a picture was sent. ``refused``: too busy, or too many from one client. ``failed``: a fault of the
service. ``mistaken``: the request itself was at fault."""

KEPT_MINUTES: Final = 60
SUFFIX: Final = ".minutes"

_SLOT: Final = struct.Struct("=QQQQQd")
_SIZE: Final = KEPT_MINUTES * _SLOT.size


@dataclass(frozen=True, slots=True)
class Minute:
    """How many requests had each outcome; ``seconds``: what those with a picture took, together."""

    picture: int = 0
    refused: int = 0
    failed: int = 0
    mistaken: int = 0
    seconds: float = 0.0

    def __add__(self, other: Minute) -> Minute:
        return Minute(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


def minute_now() -> int:
    """The number of this minute since the epoch."""
    return int(time.time() // 60)


class History:
    """The last hour of this process; where there is a ``shared`` folder, in a file that the others read."""

    def __init__(self, shared: Shared | None = None) -> None:
        self._shared = shared
        self._lock = threading.Lock()
        self._pid = 0
        self._slots = mmap.mmap(-1, _SIZE)

    def add(self, outcome: Outcome, seconds: float = 0.0) -> None:
        """One request had ``outcome``; ``seconds`` count for pictures only."""
        now = minute_now()
        with self._lock:
            slots = self._own_slots()
            at = now % KEPT_MINUTES * _SLOT.size
            number, *counts = _SLOT.unpack_from(slots, at)
            before = Minute(*counts) if number == now else Minute()
            after = before + Minute(**{outcome: 1}, seconds=seconds if outcome == "picture" else 0.0)
            # In one piece, for readers in other processes.
            slots[at : at + _SLOT.size] = _SLOT.pack(now, *astuple(after))

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


def read_slots(slots: bytes | mmap.mmap) -> Mapping[int, Minute]:
    """The minutes in what one process keeps."""
    if len(slots) != _SIZE:
        return {}
    return {number: Minute(*counts) for number, *counts in _SLOT.iter_unpack(slots[:]) if number}


def merged(parts: Iterable[Mapping[int, Minute]]) -> dict[int, Minute]:
    """Several processes' minutes together."""
    together: dict[int, Minute] = {}
    for part in parts:
        for number, minute in part.items():
            together[number] = together.get(number, Minute()) + minute
    return together


def write_slots(path: Path, minutes: Mapping[int, Minute]) -> None:
    """Keep the last hour of ``minutes`` in the file ``path``."""
    slots = bytearray(_SIZE)
    newest = max(minutes, default=0)
    for number, minute in minutes.items():
        if number > newest - KEPT_MINUTES:
            _SLOT.pack_into(slots, number % KEPT_MINUTES * _SLOT.size, number, *astuple(minute))
    path.write_bytes(slots)


def _mapped(path: Path) -> mmap.mmap:
    with path.open("w+b") as file:
        file.truncate(_SIZE)
        return mmap.mmap(file.fileno(), _SIZE)
