"""One HTTP/1 request on its way in, fed piece by piece: how far is it, and when is it all here?

Only as much is understood as that question needs. Whether the request is a good one is for gunicorn's own parser to
say, which reads the very same bytes afterwards. Where the two could disagree about the end of a request it is not
``whole``, and its connection must not be used again (RFC 9112 section 11.2, request smuggling).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_HEAD_BYTES: Final = 64 * 1024
"""A longer head is refused unread."""

READ_STEP: Final = 1024 * 1024
"""Most bytes asked from the socket at once. Each read may wait for the interpreter lock, so they should be few."""

_MAX_CHUNK_LINE: Final = 8 * 1024
# Bytes on the wire for each byte of a chunked body, at most, where the chunks are of a sensible size.
_CHUNK_OVERHEAD: Final = 1.05
_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")
_CHUNK_SIZE: Final = re.compile(rb"[0-9A-Fa-f]{1,15}")


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a request says about its body.

    ``length`` counts the bytes of the head, its blank line included. ``body`` is the number of bytes that follow, or
    None for a chunked body, which ends with its last chunk. ``plain`` is False where the head is not understood.
    """

    length: int
    body: int | None = 0
    expects_continue: bool = False
    plain: bool = True


def find_head(received: bytearray) -> Head | None:
    """The head at the start of ``received``, or None while its end has not arrived."""
    end = received.find(_HEAD_END, 0, MAX_HEAD_BYTES)
    if end < 0:
        return Head(len(received), plain=False) if len(received) >= MAX_HEAD_BYTES else None
    length = end + len(_HEAD_END)
    fields = _fields(bytes(received[:end]))
    lengths, codings = fields.get(b"content-length", []), fields.get(b"transfer-encoding", [])
    expects_continue = [value.lower() for value in fields.get(b"expect", [])] == [b"100-continue"]
    if [coding.lower() for coding in codings] == [b"chunked"] and not lengths:
        return Head(length, None, expects_continue)
    if codings or len(lengths) > 1 or not all(_LENGTH.fullmatch(value) for value in lengths):
        return Head(length, plain=False)
    return Head(length, int(lengths[0]) if lengths else 0, expects_continue)


def _fields(head: bytes) -> dict[bytes, list[bytes]]:
    fields: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        fields.setdefault(name.lower(), []).append(value.strip(b" \t"))
    return fields


class _Chunks:
    """Finds the end of a chunked body (RFC 9112 section 7.1), going over each byte once."""

    def __init__(self, start: int) -> None:
        self._position = start
        self._in_trailers = False

    def end(self, received: bytearray) -> int | None:
        """Where the body ends, or None while it has not. Raises ValueError where it is no chunked body."""
        while not self._in_trailers:
            line_end = received.find(b"\r\n", self._position)
            if line_end < 0:
                self._check_line_length(received)
                return None
            size = self._size(received, line_end)
            after = line_end + 2 + size + 2
            if size and len(received) < after:
                return None
            # The last chunk has no data, and the line break behind its size may be half of the one that ends it all.
            self._position = after if size else line_end
            self._in_trailers = not size
        end = received.find(_HEAD_END, self._position)
        return None if end < 0 else end + len(_HEAD_END)

    def _check_line_length(self, received: bytearray) -> None:
        if len(received) - self._position > _MAX_CHUNK_LINE:
            raise ValueError("a chunk size without an end")

    def _size(self, received: bytearray, line_end: int) -> int:
        match = _CHUNK_SIZE.match(received, self._position, line_end)
        if not match:
            raise ValueError("a chunk without its size")
        return int(match.group(), 16)


class Arrival:
    """One request; ``max_body`` is the largest body worth reading, in bytes.

    ``complete``: no more of it is to be read, be it all here or the rest not wanted.
    ``whole``: it is all here, and where it ends is certain.
    """

    def __init__(self, max_body: int, received: bytes | bytearray = b"") -> None:
        self._max_body = max_body
        self._max_chunked = int(max_body * _CHUNK_OVERHEAD) + READ_STEP
        self._received = bytearray()
        self._chunks: _Chunks | None = None
        self._end: int | None = None
        self.head: Head | None = None
        self.complete = False
        self.feed(received)

    @property
    def started(self) -> bool:
        """Whether any byte of it is here."""
        return bool(self._received)

    @property
    def whole(self) -> bool:
        """See the class."""
        return self._end is not None

    @property
    def head_too_long(self) -> bool:
        """Whether the head had no end within MAX_HEAD_BYTES."""
        return self.head is not None and not self.head.plain and self.head.length >= MAX_HEAD_BYTES

    @property
    def has_body(self) -> bool:
        """Whether the head announces a body."""
        return self.head is not None and self.head.body != 0

    @property
    def body_received(self) -> int:
        """Bytes of the body so far."""
        return max(0, len(self._received) - self.head.length) if self.head else 0

    @property
    def body_room(self) -> int:
        """Bytes of memory the body may come to take; 0 for one that will not be read."""
        if self.head is None or self.head.body is None:
            return self._max_chunked if self.head else 0
        return self.head.body if self.head.body <= self._max_body else 0

    @property
    def wanted(self) -> int:
        """How many bytes to ask the socket for; never beyond the end of a body whose length is known."""
        if self.head is None or self.head.body is None:
            return MAX_HEAD_BYTES
        return min(self.head.body - self.body_received, READ_STEP)

    def feed(self, data: bytes | bytearray) -> None:
        """Take in what the socket had."""
        self._received += data
        if self.head is None:
            self.head = find_head(self._received)
        if self.head is None:
            return
        self._end = self._find_end(self.head)
        self.complete = self.complete or self.whole or self._not_wanted(self.head)

    def _find_end(self, head: Head) -> int | None:
        if not head.plain:
            return None
        if head.body is not None:
            end = head.length + head.body
            return end if len(self._received) >= end else None
        self._chunks = self._chunks or _Chunks(head.length)
        try:
            return self._chunks.end(self._received)
        except ValueError:
            self.complete = True
            return None

    def _not_wanted(self, head: Head) -> bool:
        if head.body is None:
            return self.body_received > self._max_chunked
        return not head.plain or head.body > self._max_body

    def split(self) -> tuple[bytearray, bytearray]:
        """The bytes of this request, and what has been read of the next one. The arrival is empty afterwards."""
        request, rest = self._received, self._received[self._end :] if self.whole else bytearray()
        if rest:
            del request[self._end :]
        self._received = bytearray()
        return request, rest
