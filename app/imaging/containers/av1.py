"""AV1 (AOM, AV1 Bitstream & Decoding Process Specification): how large a picture the coded data themselves make.

An AVIF's boxes say so too, but libavif decodes whatever size is coded and only then scales it to the size in the boxes:
a few kilobytes that say 64 x 48 may decode to 268 megapixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.errors import BrokenImage

_SEQUENCE_HEADER: Final = 1
_FRAME_HEADERS: Final = frozenset({3, 6, 7})
"""Frame header, frame, redundant frame header (6.2.2)."""
_SELECT: Final = 2
_SWITCH_FRAME: Final = 3
_MOST_UNITS: Final = 10_000


class _Bits:
    """Reads bits, highest first. Raises BrokenImage at the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def read(self, count: int) -> int:
        """The next ``count`` bits as a number."""
        first, last = self._at, self._at + count
        if last > 8 * len(self._data):
            raise BrokenImage
        self._at = last
        window = int.from_bytes(self._data[first // 8 : -(-last // 8)], "big")
        return window >> (-last % 8) & ((1 << count) - 1)

    def flag(self) -> bool:
        """The next bit."""
        return self.read(1) == 1

    def skip_variable(self) -> None:
        """A number of as many bits as it begins with zeros (4.10.3)."""
        zeros = 0
        while not self.flag():
            zeros += 1
            if zeros >= 32:
                return
        self.read(zeros)


@dataclass(frozen=True, slots=True)
class _Sequence:
    """Of a sequence header what a frame header is read by. time_bits: of a point in time that each shown frame has."""

    width: int
    height: int
    reduced: bool
    time_bits: int
    frame_id_bits: int
    screen_content: int
    integer_motion: int


def coded_sizes(data: bytes) -> list[tuple[int, int]]:
    """(width, height) of every sequence in the coded ``data``.

    Raises BrokenImage where there is none, and for a frame whose size is not that of its sequence: stills have none.
    """
    sizes: list[tuple[int, int]] = []
    sequence: _Sequence | None = None
    for kind, body in _units(data):
        if kind == _SEQUENCE_HEADER:
            sequence = _read_sequence(_Bits(body))
            sizes.append((sequence.width, sequence.height))
        elif kind in _FRAME_HEADERS and sequence is not None and _overrides_size(_Bits(body), sequence):
            raise BrokenImage
    if not sizes:
        raise BrokenImage
    return sizes


def _units(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The open bitstream units (5.3): kind and content."""
    at = 0
    for _ in range(_MOST_UNITS):
        if at >= len(data):
            return
        head = data[at]
        at += 2 if head & 4 else 1
        size = len(data) - at
        if head & 2:
            size, at = _variable_size(data, at)
        yield head >> 3 & 15, data[at : at + size]
        at += size
    raise BrokenImage


def _variable_size(data: bytes, at: int) -> tuple[int, int]:
    """A number in seven bits a byte (4.10.5), and where it ends."""
    value = 0
    for index, byte in enumerate(data[at : at + 8]):
        value |= (byte & 0x7F) << 7 * index
        if not byte & 0x80:
            return value, at + index + 1
    raise BrokenImage


def _read_sequence(bits: _Bits) -> _Sequence:
    """5.5.1, up to what frame headers need."""
    bits.read(3 + 1)
    reduced = bits.flag()
    time_bits = 0
    if reduced:
        bits.read(5)
    else:
        time_bits = _read_operating_points(bits)
    width_bits, height_bits = bits.read(4) + 1, bits.read(4) + 1
    width, height = bits.read(width_bits) + 1, bits.read(height_bits) + 1
    if reduced:
        return _Sequence(width, height, True, 0, 0, _SELECT, _SELECT)
    frame_id_bits = (bits.read(4) + 2) + (bits.read(3) + 1) if bits.flag() else 0
    bits.read(3 + 4)
    if bits.flag():
        bits.read(2)
    screen_content = _SELECT if bits.flag() else bits.read(1)
    integer_motion = _SELECT
    if screen_content > 0:
        integer_motion = _SELECT if bits.flag() else bits.read(1)
    return _Sequence(width, height, False, time_bits, frame_id_bits, screen_content, integer_motion)


def _read_operating_points(bits: _Bits) -> int:
    """Timing, decoder model and operating points; how many bits a frame's point in time has."""
    delay_bits = time_bits = 0
    equal_intervals = False
    if bits.flag():
        bits.read(64)
        equal_intervals = bits.flag()
        if equal_intervals:
            bits.skip_variable()
        if bits.flag():
            delay_bits = bits.read(5) + 1
            bits.read(32 + 5)
            time_bits = bits.read(5) + 1
    display_delays = bits.flag()
    for _ in range(bits.read(5) + 1):
        bits.read(12)
        if bits.read(5) > 7:
            bits.read(1)
        if delay_bits and bits.flag():
            bits.read(2 * delay_bits + 1)
        if display_delays and bits.flag():
            bits.read(4)
    return 0 if equal_intervals else time_bits


def _overrides_size(bits: _Bits, sequence: _Sequence) -> bool:
    """Whether a frame header (5.9.2) announces a size of its own."""
    if sequence.reduced or bits.flag():
        # A frame shown again has the size that it had.
        return False
    kind, shown = bits.read(2), bits.flag()
    if shown:
        bits.read(sequence.time_bits)
    else:
        bits.read(1)
    if kind == _SWITCH_FRAME:
        return True
    if not (kind == 0 and shown):
        bits.read(1)
    bits.read(1)
    screen_content = bits.flag() if sequence.screen_content == _SELECT else sequence.screen_content
    if screen_content and sequence.integer_motion == _SELECT:
        bits.read(1)
    bits.read(sequence.frame_id_bits)
    return bits.flag()
