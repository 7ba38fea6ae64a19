"""ISO base media files (ISO/IEC 14496-12, 23008-12): the boxes of a still picture's ``meta``, for AVIF and HEIC."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_FULL_BOX: Final = 4
"""Bytes of version and flags that a full box has before its content."""

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
    for meta in _boxes(data, 0, len(data), b"meta"):
        for properties in _boxes(data, meta.start + _FULL_BOX, meta.end, b"iprp"):
            for container in _boxes(data, properties.start, properties.end, b"ipco"):
                for box in _boxes(data, container.start, container.end, kind):
                    yield data[box.start : box.end]


def without_metadata(data: bytes) -> bytes:
    """The same file with its EXIF and XMP items renamed to a type that no reader knows. Nothing moves."""
    places = [
        place
        for meta in _boxes(data, 0, len(data), b"meta")
        for items in _boxes(data, meta.start + _FULL_BOX, meta.end, b"iinf")
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
    """The boxes of type ``wanted`` between ``start`` and ``end``, as far as they are whole."""
    while start + 8 <= end:
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


def _items_head(data: bytes, box: _Box) -> int:
    # The number of items has two bytes in version 0, four after.
    return _FULL_BOX + (2 if data[box.start : box.start + 1] == b"\0" else 4)


def _item_type_at(data: bytes, box: _Box) -> int:
    # Before the type: the item's number (two bytes in version 2, four in 3) and two bytes of protection.
    return _FULL_BOX + (6 if data[box.start : box.start + 1] == b"\3" else 4)
