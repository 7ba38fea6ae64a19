"""Where in a file a change tells most: the headers and fields that its container is read by."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from types import MappingProxyType
from typing import Final, TypeAlias

from app.errors import BrokenImage
from app.imaging.exif import first_directory, read_layout
from app.imaging.sniff import sniff
from app.types import UploadFormat

Span: TypeAlias = tuple[int, int]
"""Start and end of some bytes."""

_HEADER: Final = 64
"""Bytes at the start of a part that hold its fields; what follows them is pixels, as a rule."""
_MOST_SPANS: Final = 200
_CONTAINER_BOXES: Final = frozenset(
    {b"meta", b"iprp", b"ipco", b"iinf", b"iref", b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"dinf"}
)
_FULL_BOXES: Final = MappingProxyType({b"meta": 4, b"iinf": 6, b"iref": 4, b"stsd": 8})
"""Bytes between the head of such a box and the first box within."""


def telling_places(data: bytes) -> list[Span]:
    """Spans within ``data``, none of them empty, and at least one. ``data`` has at least a byte.

    The signature, without which nothing behind it is read, is left out.
    """
    format = sniff(data)
    if format is None:
        return [(0, len(data))]
    signature = _SIGNATURES[format]
    spans = islice(_READERS[format](data), _MOST_SPANS)
    cut = ((max(start, signature), min(end, len(data))) for start, end in spans)
    return [(start, end) for start, end in cut if start < end] or [(0, len(data))]


def _png(data: bytes) -> Iterator[Span]:
    at = 8
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        yield at, min(end, at + _HEADER)
        at = end


def _jpeg(data: bytes) -> Iterator[Span]:
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        yield at, end
        if data[at + 1] == 0xDA:
            yield end, end + _HEADER
            # Later scans, and the tables between them, have no length to be found by.
            end = data.find(b"\xff\xc4", end)
        at = end if end > at else len(data)


def _webp(data: bytes) -> Iterator[Span]:
    at = 12
    while at + 8 <= len(data):
        yield at, at + 8 + _HEADER
        inside = 16 if data[at : at + 4] == b"ANMF" else None
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        at += 8 + (inside if inside is not None else length + (length & 1))


def _boxes(data: bytes) -> Iterator[Span]:
    yield from _boxes_between(data, 0, len(data))


def _boxes_between(data: bytes, start: int, end: int) -> Iterator[Span]:
    while start + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, start)
        stop = min(start + size, end) if size >= 8 else end
        if kind in _CONTAINER_BOXES:
            yield start, start + 8
            yield from _boxes_between(data, start + 8 + _FULL_BOXES.get(kind, 0), stop)
        else:
            yield start, min(stop, start + 2 * _HEADER)
        start = stop


def _tiff(data: bytes) -> Iterator[Span]:
    layout = read_layout(data)
    if layout is None or len(data) < 16:
        return
    (start,) = struct.unpack_from(layout.order + layout.word, data, 8 if layout.big else 4)
    head = start + struct.calcsize(layout.order + layout.counter)
    with suppress(BrokenImage):
        for index, entry in enumerate(first_directory(data, layout)):
            at = head + index * layout.entry_size
            yield at, at + layout.entry_size
            yield entry.place, entry.place + min(entry.size, _HEADER)


def _gif(data: bytes) -> Iterator[Span]:
    yield 0, 13
    for introducer in (b"\x2c", b"\x21\xf9", b"\x21\xff"):
        at = data.find(introducer, 13)
        while at >= 0:
            yield at, at + 24
            at = data.find(introducer, at + 24)


def _bmp(data: bytes) -> Iterator[Span]:
    yield 0, 138
    start = int.from_bytes(data[10:14], "little")
    yield start, start + _HEADER


_SIGNATURES: Final[Mapping[UploadFormat, int]] = MappingProxyType(
    {"png": 8, "jpeg": 2, "webp": 12, "avif": 12, "heif": 12, "tiff": 4, "gif": 6, "bmp": 2}
)
"""Bytes at the start by which the kind of file is told."""

_READERS: Final[Mapping[UploadFormat, Callable[[bytes], Iterator[Span]]]] = MappingProxyType(
    {
        "png": _png,
        "jpeg": _jpeg,
        "webp": _webp,
        "avif": _boxes,
        "heif": _boxes,
        "tiff": _tiff,
        "gif": _gif,
        "bmp": _bmp,
    }
)
