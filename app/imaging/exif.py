"""TIFF directories, and the one thing we want from EXIF: which way up the picture is.

Sources: TIFF 6.0 (1992) section 2, BigTIFF as in libtiff's design page, CIPA DC-008 (EXIF 2.32) 4.6.4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from app.errors import BrokenImage

ORIENTATION_TAG: Final = 274

_TYPE_SIZES: Final = {
    1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
}  # fmt: skip
_INTEGER_FORMATS: Final = {1: "B", 3: "H", 4: "I", 13: "I", 16: "Q"}
_MOST_ENTRIES: Final = 4096
"""Cameras write a few dozen. BigTIFF would allow as many as fit into the file."""
_OUTSIDE: Final = (struct.error, OverflowError)
"""What ``struct`` raises for a place outside the data; OverflowError for a 64-bit one."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Byte order and field widths of a TIFF header."""

    order: Literal["<", ">"]
    big: bool

    @property
    def entry_size(self) -> int:
        """Bytes of one directory entry."""
        return 20 if self.big else 12

    @property
    def word(self) -> str:
        """``struct`` format of a count or an offset."""
        return "Q" if self.big else "I"

    @property
    def counter(self) -> str:
        """``struct`` format of a directory's number of entries."""
        return "Q" if self.big else "H"


@dataclass(frozen=True, slots=True)
class Entry:
    """One tag, whose value begins at ``place`` in ``data``: the whole file, not a copy."""

    tag: int
    type: int
    count: int
    place: int
    data: bytes
    order: str

    @property
    def size(self) -> int:
        """Bytes the value claims; 0 for an unknown type."""
        return _TYPE_SIZES.get(self.type, 0) * self.count

    @property
    def value(self) -> bytes:
        """The value's bytes, as many of them as the file has. Sliced on demand: an entry may claim the whole file."""
        return self.data[self.place : self.place + self.size]

    def integer(self) -> int | None:
        """The first value where the type is an unsigned integer, else None."""
        form = _INTEGER_FORMATS.get(self.type)
        if form is None or self.count < 1:
            return None
        try:
            return int(struct.unpack_from(self.order + form, self.data, self.place)[0])
        except _OUTSIDE:
            return None


def read_layout(data: bytes) -> Layout | None:
    """The layout of the TIFF header that ``data`` begins with, or None if it begins otherwise."""
    layouts: dict[bytes, Layout] = {
        b"II*\0": Layout("<", False),
        b"MM\0*": Layout(">", False),
        b"II+\0": Layout("<", True),
        b"MM\0+": Layout(">", True),
    }
    return layouts.get(data[:4])


def first_directory(data: bytes, layout: Layout) -> Iterator[Entry]:
    """The entries of the first directory, in order, as far as the data reach. No other pointer is followed.

    Raises BrokenImage where the header itself is cut short or points outside.
    """
    try:
        (start,) = struct.unpack_from(layout.order + layout.word, data, 8 if layout.big else 4)
        (count,) = struct.unpack_from(layout.order + layout.counter, data, start)
    except _OUTSIDE:
        raise BrokenImage from None
    at = start + struct.calcsize(layout.order + layout.counter)
    for index in range(min(count, _MOST_ENTRIES, (len(data) - at) // layout.entry_size)):
        yield _entry(data, at + index * layout.entry_size, layout)


def orientation(payload: bytes) -> int:
    """The EXIF orientation, 1 to 8, of an EXIF block; 1 where there is none or it makes no sense.

    Some writers put the ``Exif\\0\\0`` signature twice (Pillow issue 8348); every one of them is skipped.
    """
    while payload.startswith(b"Exif\0\0"):
        payload = payload[6:]
    layout = read_layout(payload)
    if layout is None:
        return 1
    try:
        values = [entry.integer() for entry in first_directory(payload, layout) if entry.tag == ORIENTATION_TAG]
    except BrokenImage:
        return 1
    return valid_orientation(values[0] if values else None)


def valid_orientation(value: int | None) -> int:
    """``value`` if it is one of the eight, else 1."""
    return value if value is not None and 1 <= value <= 8 else 1


def _entry(data: bytes, at: int, layout: Layout) -> Entry:
    tag, kind, count = struct.unpack_from(f"{layout.order}HH{layout.word}", data, at)
    room = 8 if layout.big else 4
    place = at + layout.entry_size - room
    if _TYPE_SIZES.get(kind, 0) * count > room:
        (place,) = struct.unpack_from(layout.order + layout.word, data, place)
    return Entry(tag, kind, count, place, data, layout.order)
