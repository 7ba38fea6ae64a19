"""Memory: how much of it the conversions may take together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _nothing_held() -> int:
    return 0


def _nothing_to_release() -> None:
    """There is nothing."""


@dataclass(slots=True)
class Memory:
    """The bound, in bytes, for the peaks of all conversions under way and for what networks hold between their runs.

    held: what they hold at this moment. release: makes them let go of it.
    """

    budget: float = float("inf")
    held: Callable[[], int] = _nothing_held
    release: Callable[[], None] = _nothing_to_release
