"""One minute of the service's requests for pictures, and the small file in which a process keeps its last hour."""

from __future__ import annotations

import mmap
import struct
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

KEPT_MINUTES: Final = 60
SUFFIX: Final = ".minutes"

_SLOT: Final = struct.Struct("=QQQQQd")
SIZE: Final = KEPT_MINUTES * _SLOT.size
"""Bytes of such a file: a slot for each minute, by its number modulo 60."""


@dataclass(frozen=True, slots=True)
class Minute:
    """How many requests had each outcome; ``seconds``: what those with a picture took, together."""

    picture: int = 0
    refused: int = 0
    failed: int = 0
    mistaken: int = 0
    seconds: float = 0.0

    def __add__(self, other: Minute) -> Minute:
        return Minute(
            self.picture + other.picture,
            self.refused + other.refused,
            self.failed + other.failed,
            self.mistaken + other.mistaken,
            self.seconds + other.seconds,
        )

    @property
    def numbers(self) -> tuple[int, int, int, int, float]:
        """All of them, in the order of the file."""
        # Each request goes through here; dataclasses.astuple takes ten times as long.
        return self.picture, self.refused, self.failed, self.mistaken, self.seconds


def minute_now() -> int:
    """The number of this minute since the epoch."""
    return int(time.time() // 60)


def add_to_slot(slots: mmap.mmap, number: int, added: Minute) -> None:
    """Count ``added`` in the minute ``number``; what an older minute has left in its slot is forgotten."""
    at = number % KEPT_MINUTES * _SLOT.size
    held, *counts = _SLOT.unpack_from(slots, at)
    after = Minute(*counts) + added if held == number else added
    # In one piece, for readers in other processes.
    slots[at : at + _SLOT.size] = _SLOT.pack(number, *after.numbers)


def read_slots(slots: bytes | mmap.mmap) -> Mapping[int, Minute]:
    """The minutes in what one process keeps."""
    if len(slots) != SIZE:
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
    slots = bytearray(SIZE)
    newest = max(minutes, default=0)
    for number, minute in minutes.items():
        if number > newest - KEPT_MINUTES:
            _SLOT.pack_into(slots, number % KEPT_MINUTES * _SLOT.size, number, *minute.numbers)
    path.write_bytes(slots)
