"""Work: what one conversion is expected to cost, before it is begun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LARGE_PIXELS: Final = 2_500_000
"""Work above this is large: it goes beside the small, never before it. Four to six usual pictures."""


@dataclass(frozen=True, slots=True)
class Work:
    """One conversion.

    kind: what its pace is learned by, e.g. style and way with faces. pixels: those that go through a network, and what
    else is done as so many of them. bytes: memory at its peak, beyond what the process holds anyway. quick: whether it
    needs no network, only an encoder.
    """

    kind: str
    pixels: float
    bytes: int = 0
    quick: bool = False
