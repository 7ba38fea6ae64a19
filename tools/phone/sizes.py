"""Sizes that a bundle's models are made for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from app.imaging.sizing import SizeRequirements
from tools.command import ToolError

Size: TypeAlias = tuple[int, int]
"""(width, height) in px."""

DEFAULT_SIDES: Final = (256, 384, 512)

MOST_SIDE: Final = 2048
"""Pixels: a longer side asks for gigabytes of memory, which no phone gives an app."""


def parse_size(text: str) -> Size:
    """``256`` for a square, ``384x512`` for width x height. Raises ToolError for anything else."""
    width, cross, height = text.lower().partition("x")
    sides = [int(side) if side.isascii() and side.isdigit() else 0 for side in (width, height if cross else width)]
    if not all(0 < side <= MOST_SIDE for side in sides):
        raise ToolError(f"“{text}” is no size: write 256 or 384x512 (width x height), at most {MOST_SIDE} px a side.")
    return sides[0], sides[1]


def size_name(size: Size) -> str:
    """``256x256``: for file names and tables."""
    return f"{size[0]}x{size[1]}"


def pick_sizes(needs: SizeRequirements, wanted: Sequence[Size]) -> tuple[Size, ...]:
    """``wanted`` or, where nothing is, what suits ``needs``: its fixed sides, or DEFAULT_SIDES; smallest first.

    Raises ToolError for a size the network does not take.
    """
    usual = [needs.fixed] if needs.fixed else [(side, side) for side in DEFAULT_SIDES]
    sizes = sorted(set(wanted or usual), key=lambda size: (size[0] * size[1], size))
    for size in sizes:
        if size != (needs.fixed or needs.padded(*size)):
            raise ToolError(f"The network does not take {size_name(size)}: {_demand(needs)}.")
    return tuple(sizes)


def _demand(needs: SizeRequirements) -> str:
    if needs.fixed:
        return f"its size is fixed at {size_name(needs.fixed)}"
    return f"sides must be multiples of {needs.multiple_of} px and at least {needs.minimum} px"
