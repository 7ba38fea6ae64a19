"""Hypothesis' view of a damaged file: a seed, and a few changes one after the other.

Hypothesis draws, and shrinks what it has found: fewer changes, smaller numbers, the first of the seeds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from hypothesis import strategies as st

from tools.fuzz.anatomy import telling_places
from tools.fuzz.repair import repaired, with_png_rows_changed
from tools.fuzz.seeds import MOST_BYTES, Seed

Draw: TypeAlias = st.DrawFn
Change: TypeAlias = Callable[[Draw, bytes, Sequence[Seed]], tuple[bytes, str]]
"""(draw, bytes of at least 1, the seeds) -> the changed bytes, and what was done in words."""

HOW_MANY: Final = (1, 1, 1, 1, 2, 2, 3, 5)
"""Changes to a file. One alone reaches furthest: most second ones fall on what is broken already."""
# Where readers of pictures go wrong: 0, signs, the ends of 8, 16 and 32 bits, and sides of 50 megapixels and more.
_NUMBERS: Final = (
    *(0, 1, 2, 3, 4, 7, 8, 15, 16, 127, 128, 255, 256, 4000, 7071, 7072, 20_000, 20_001, 32_767, 32_768, 65_535),
    *(65_536, 2**24 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 8, 2**32 - 1),
)
_WIDTHS: Final = ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))
_LONGEST_PIECE: Final = 4096


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed file, and how it came about."""

    seed: str
    changes: tuple[str, ...]
    data: bytes


@st.composite
def mutants(draw: Draw, seeds: Sequence[Seed]) -> Mutant:
    """Files made of ``seeds``, which are not empty."""
    seed = draw(st.sampled_from(seeds))
    data, told = seed.data, []
    for _ in range(draw(st.sampled_from(HOW_MANY))):
        if data:
            data, words = draw(st.sampled_from(CHANGES))(draw, data, seeds)
            told.append(words)
    if draw(st.integers(0, 3)):
        data = repaired(data)
    return Mutant(seed.name, tuple(told), data[:MOST_BYTES])


def _place(draw: Draw, data: bytes) -> int:
    """A byte of ``data``: in a header three times of four."""
    spans = telling_places(data)
    start, end = (0, len(data)) if draw(st.integers(0, 3)) == 3 else draw(st.sampled_from(spans))
    return start + draw(st.integers(0, end - start - 1))


def _piece(draw: Draw, data: bytes) -> tuple[int, int]:
    """Start and end of some bytes of ``data``."""
    start = _place(draw, data)
    return start, min(len(data), start + draw(st.integers(1, _LONGEST_PIECE)))


def _number(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    at, (width, letter) = _place(draw, data), draw(st.sampled_from(_WIDTHS))
    order = draw(st.sampled_from(">" + "<"))
    value = draw(st.sampled_from(_NUMBERS)) & ((1 << 8 * width) - 1)
    written = struct.pack(order + letter, value)
    return _overwritten(data, at, written), f"{value} as {order}{letter} at {at}"


def _nudge(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    at, by = _place(draw, data), draw(st.integers(1, 255))
    return _overwritten(data, at, bytes([(data[at] + by) % 256])), f"{by} added to byte {at}"


def _flip(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    at, bit = _place(draw, data), draw(st.integers(0, 7))
    return _overwritten(data, at, bytes([data[at] ^ 1 << bit])), f"bit {bit} of byte {at} flipped"


def _bytes(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    at, written = _place(draw, data), draw(st.binary(min_size=1, max_size=16))
    return _overwritten(data, at, written), f"{written.hex()} at {at}"


def _insertion(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    at, written = _place(draw, data), draw(st.binary(min_size=1, max_size=16))
    return data[:at] + written + data[at:], f"{written.hex()} inserted at {at}"


def _removal(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    start, end = _piece(draw, data)
    return data[:start] + data[end:], f"bytes {start} to {end} removed"


def _repetition(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    (start, end), times = _piece(draw, data), draw(st.sampled_from((1, 2, 10, 100)))
    return data[:end] + data[start:end] * times + data[end:], f"bytes {start} to {end} {times} more times"


def _cut(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    at = draw(st.integers(1, len(data)))
    return data[:at], f"cut at {at}"


def _blank(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    (start, end), value = _piece(draw, data), draw(st.sampled_from((0, 255)))
    return _overwritten(data, start, bytes([value]) * (end - start)), f"bytes {start} to {end} all {value}"


def _graft(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    other = draw(st.sampled_from([seed for seed in seeds if seed.data]))
    at, (start, end) = _place(draw, data), _piece(draw, other.data)
    return data[:at] + other.data[start:end] + data[at:], f"{other.name}'s {start} to {end} at {at}"


def _rows(draw: Draw, data: bytes, seeds: Sequence[Seed]) -> tuple[bytes, str]:
    """A PNG's rows changed behind its compression; another file is changed as it lies."""
    change = draw(st.sampled_from((_nudge, _cut, _bytes, _removal, _repetition)))
    told: list[str] = []

    def change_rows(rows: bytes) -> bytes:
        changed, words = change(draw, rows, seeds)
        told.append(f"rows: {words}")
        return changed

    changed = with_png_rows_changed(data, change_rows)
    return change(draw, data, seeds) if changed is None else (changed, "".join(told))


def _overwritten(data: bytes, at: int, written: bytes) -> bytes:
    written = written[: len(data) - at]
    return data[:at] + written + data[at + len(written) :]


CHANGES: Final[tuple[Change, ...]] = (
    *(_number, _number, _number, _nudge, _flip, _bytes, _blank),
    *(_insertion, _removal, _repetition, _cut, _graft, _rows),
)
