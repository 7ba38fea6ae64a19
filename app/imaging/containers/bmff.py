"""ISO base media files (ISO/IEC 14496-12, 23008-12): the boxes of a still picture's ``meta``, for AVIF and HEIC."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.errors import BrokenImage

_FULL_BOX: Final = 4
"""Bytes of version and flags that a full box has before its content."""

_MOST_BOXES: Final = 4096
"""Side by side, and of entries in a table. A picture of 50 megapixels in tiles of 512 px has 200 items."""
_MOST_CONTAINERS: Final = 16
"""Of one kind, side by side: one ``meta`` is allowed, and a track for the colours and one for the alpha are usual."""

_METADATA_ITEMS: Final = frozenset({b"Exif", b"mime"})


@dataclass(frozen=True, slots=True)
class _Box:
    type: bytes
    start: int
    end: int


def largest_claim(data: bytes) -> tuple[int, int] | None:
    """The largest picture any item claims to be (its ``ispe``), as (width, height), or None if none says."""
    records = _properties(data, b"ispe")
    sizes = [struct.unpack_from(">II", record, _FULL_BOX) for record in records if len(record) >= _FULL_BOX + 8]
    return max(sizes, key=lambda size: size[0] * size[1], default=None)


@dataclass(frozen=True, slots=True)
class Coding:
    """How the samples of an item are coded. bytes: of one sample. chroma: samples of each colour plane a pixel."""

    bytes: int
    chroma: float


def codings(data: bytes) -> list[Coding]:
    """What the decoder configurations of all items say (AV1-ISOBMFF 2.3.3, ISO/IEC 14496-15 8.3.3)."""
    found = [_av1(record) for record in _properties(data, b"av1C") if len(record) >= 3]
    return found + [_hevc(record) for record in _properties(data, b"hvcC") if len(record) >= 18]


def has_alpha(data: bytes) -> bool:
    """Whether an item calls itself the alpha of another (MIAF, ISO/IEC 23000-22, 7.3.5.2)."""
    return any(b"alpha" in record or b"hevc:2015:auxid:1" in record for record in _properties(data, b"auxC"))


def _av1(record: bytes) -> Coding:
    flags = record[2]
    chroma = 0.0 if flags & 0x10 else {0: 1.0, 0x08: 0.5}.get(flags & 0x0C, 0.25)
    return Coding(2 if flags & 0x40 else 1, chroma)


def _hevc(record: bytes) -> Coding:
    return Coding(2 if record[17] & 7 else 1, (0.0, 0.25, 0.5, 1.0)[record[16] & 3])


def _properties(data: bytes, kind: bytes) -> Iterator[bytes]:
    """The content of all properties of that kind."""
    lists = _containers(data, _containers(data, _metas(data), b"iprp", _FULL_BOX), b"ipco")
    for box in (box for container in lists for box in _boxes(data, container.start, container.end, kind)):
        yield data[box.start : box.end]


def coded_items(data: bytes, kind: bytes) -> Iterator[bytes]:
    """The coded data of each item of that kind (ISO/IEC 14496-12, 8.11.3), and of the first sample of each track.

    Raises struct.error where a table is cut short, and BrokenImage where items lie upon each other.
    """
    # Tracks may show what is an item too.
    room = 2 * len(data)
    for extents in (*_item_extents(data, kind), *_first_samples(data)):
        room -= sum(length for _, length in extents)
        if room < 0:
            raise BrokenImage
        yield b"".join(data[start : start + length] for start, length in extents)


_Extents = list[tuple[int, int]]
"""Places in the file and their lengths."""


class _Fields:
    """Reads numbers in network order, one after the other. Raises struct.error at the end."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._data = data
        self._at = start
        self._end = end

    def number(self, size: int) -> int:
        """The next ``size`` bytes, which may be none."""
        start, self._at = self._at, self._at + size
        if self._at > self._end:
            raise struct.error("a box ends within a field")
        return int.from_bytes(self._data[start : self._at], "big")

    def count(self, size: int) -> int:
        """A number of entries. Raises BrokenImage where no picture has so many."""
        number = self.number(size)
        if number > _MOST_BOXES:
            raise BrokenImage
        return number


def _item_extents(data: bytes, kind: bytes) -> Iterator[_Extents]:
    for meta in _metas(data):
        numbers = _items_of_kind(data, meta, kind)
        inner = next(_boxes(data, meta.start + _FULL_BOX, meta.end, b"idat"), _Box(b"idat", 0, 0))
        for box in _boxes(data, meta.start + _FULL_BOX, meta.end, b"iloc"):
            for number, extents in _locations(_Fields(data, box.start, box.end), inner.start):
                if number in numbers:
                    # A length of 0 means: to the end.
                    yield [(start, length or max(0, len(data) - start)) for start, length in extents]


def _items_of_kind(data: bytes, meta: _Box, kind: bytes) -> set[int]:
    numbers = set()
    for items in _containers(data, [meta], b"iinf", _FULL_BOX):
        for item in _boxes(data, items.start + _items_head(data, items), items.end, b"infe"):
            place = item.start + _item_type_at(data, item)
            if data[place : place + 4] == kind:
                numbers.add(int.from_bytes(data[item.start + _FULL_BOX : place - 2], "big"))
    return numbers


def _locations(fields: _Fields, inner: int) -> Iterator[tuple[int, _Extents]]:
    """Each item's number and extents."""
    version = fields.number(_FULL_BOX) >> 24
    sizes = fields.number(2)
    offset_size, length_size, base_size, index_size = (sizes >> shift & 15 for shift in (12, 8, 4, 0))
    wide = 4 if version == 2 else 2
    for _ in range(fields.count(wide)):
        number = fields.number(wide)
        method = fields.number(2) & 15 if version else 0
        fields.number(2)
        base = fields.number(base_size) + (inner if method == 1 else 0)
        extents = []
        for _ in range(fields.count(2)):
            fields.number(index_size if version else 0)
            extents.append((base + fields.number(offset_size), fields.number(length_size)))
        yield number, extents


def _first_samples(data: bytes) -> Iterator[_Extents]:
    """Each track's first sample (8.7): no more of a track is shown."""
    boxes = _file(data)
    for name in (b"moov", b"trak", b"mdia", b"minf", b"stbl"):
        boxes = _containers(data, boxes, name)
    for box in boxes:
        for name, wide in ((b"stco", 4), (b"co64", 8)):
            for places in _containers(data, [box], name):
                for sizes in _containers(data, [box], b"stsz"):
                    start = _Fields(data, places.start + 8, places.end).number(wide)
                    lengths = _Fields(data, sizes.start + _FULL_BOX, sizes.end)
                    # One length for all, or 0, their number, and each one's own.
                    yield [(start, lengths.number(4) or (lengths.number(4) and lengths.number(4)))]


def without_metadata(data: bytes) -> bytes:
    """The same file with its EXIF and XMP items renamed to a type that no reader knows. Nothing moves."""
    places = [
        place
        for items in _containers(data, _metas(data), b"iinf", _FULL_BOX)
        for item in _boxes(data, items.start + _items_head(data, items), items.end, b"infe")
        if data[(place := item.start + _item_type_at(data, item)) : place + 4] in _METADATA_ITEMS
    ]
    if not places:
        return data
    copy = bytearray(data)
    for place in places:
        copy[place : place + 4] = b"free"
    return bytes(copy)


def _boxes(data: bytes, start: int, end: int, wanted: bytes) -> Iterator[_Box]:
    """The boxes of type ``wanted`` between ``start`` and ``end``, as far as they are whole.

    Raises BrokenImage for more boxes than any picture has: going over them would take seconds.
    """
    passed = 0
    while start + 8 <= end:
        passed += 1
        if passed > _MOST_BOXES:
            raise BrokenImage
        size, kind = struct.unpack_from(">I4s", data, start)
        head = 8
        if size == 1 and start + 16 <= end:
            (size,) = struct.unpack_from(">Q", data, start + 8)
            head = 16
        stop = end if size == 0 else start + size
        if stop > end or stop < start + head:
            return
        if kind == wanted:
            yield _Box(kind, start + head, stop)
        start = stop


def _containers(data: bytes, outer: list[_Box], wanted: bytes, skip: int = 0) -> list[_Box]:
    """The boxes of type ``wanted`` within ``outer``, ``skip`` bytes into each."""
    found = [inner for box in outer for inner in _boxes(data, box.start + skip, box.end, wanted)]
    if len(found) > _MOST_CONTAINERS:
        raise BrokenImage
    return found


def _file(data: bytes) -> list[_Box]:
    return [_Box(b"", 0, len(data))]


def _metas(data: bytes) -> list[_Box]:
    return _containers(data, _file(data), b"meta")


def _items_head(data: bytes, box: _Box) -> int:
    # The number of items has two bytes in version 0, four after.
    return _FULL_BOX + (2 if data[box.start : box.start + 1] == b"\0" else 4)


def _item_type_at(data: bytes, box: _Box) -> int:
    # Before the type: the item's number (two bytes in version 2, four in 3) and two bytes of protection.
    return _FULL_BOX + (6 if data[box.start : box.start + 1] == b"\3" else 4)
