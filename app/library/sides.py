"""Which sides a network takes: found by running it at sides that only one multiple divides."""

from __future__ import annotations

from typing import Final

import numpy as np

from app.imaging.sizing import SizeRequirements, round_up
from app.library.findings import Finding, NoStyle
from app.library.net import Net
from app.types import Tensor

MULTIPLES: Final = (8, 16, 32, 64)
"""Tried in this order. Smaller ones would save at most 7 px of padding, and strides of 8 are in most networks."""

FIXED_SIDES: Final = (256, 512, 1024, 384, 224)
"""Squares tried where no multiple works: a network may be fixed without saying so."""

LEAST_FIXED: Final = 128
"""Pixels: a picture is put together from tiles with 64 px of overlap."""

_MINIMUM_STEPS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""In multiples of the multiple: a network may need more than one of them, as where it pads by reflection."""


def find_sides(
    net: Net, *, multiple_of: int | None = None, minimum: int | None = None
) -> tuple[SizeRequirements, Finding]:
    """What sides ``net`` takes, and how that was found. multiple_of, minimum: as the owner says, where they do.

    Raises NoStyle where it runs at no sides that a picture can be brought to.
    """
    if net.height is not None or net.width is not None:
        return _fixed(*net.trial, "its input says so")
    multiple = multiple_of or next((step for step in MULTIPLES if _works(net, step)), None)
    if multiple is None:
        return _hidden_fixed(net)
    least = minimum or _minimum(net, multiple)
    height, width = _odd_sides(multiple)
    why = f"came back whole at {height} x {width} px and at {least} x {least}"
    smaller = [str(step) for step in MULTIPLES if step < multiple]
    if multiple_of is None and smaller:
        why += f", and did not at multiples of {' and '.join(smaller)} alone"
    return SizeRequirements(multiple, least), Finding("sides", f"multiples of {multiple} px, at least {least}", why)


def _works(net: Net, multiple: int) -> bool:
    return all(_runs(net, height, width) for height, width in (_odd_sides(multiple), _odd_sides(multiple)[::-1]))


def _odd_sides(multiple: int) -> tuple[int, int]:
    """A height and a width of about 64 to 200 px that are odd multiples: twice ``multiple`` divides neither."""
    return multiple * _odd(64 / multiple), multiple * _odd(64 / multiple + 2)


def _odd(number: float) -> int:
    return round(number) // 2 * 2 + 1


def _minimum(net: Net, multiple: int) -> int:
    for step in _MINIMUM_STEPS:
        side = multiple * step
        if _runs(net, side, side) and _runs(net, side, side + multiple):
            return side
    raise NoStyle(f"it runs at some multiples of {multiple} px and not at others: no rule for its sides was found.")


def _hidden_fixed(net: Net) -> tuple[SizeRequirements, Finding]:
    for side in FIXED_SIDES:
        if _runs(net, side, side):
            return _fixed(side, side, "it ran at these and at no others tried")
    raise NoStyle(f"it gave no picture back whole at multiples of {', '.join(map(str, MULTIPLES))} px.")


def _fixed(height: int, width: int, why: str) -> tuple[SizeRequirements, Finding]:
    if min(height, width) < LEAST_FIXED:
        raise NoStyle(f"its sides are fixed at {width} x {height} px; below {LEAST_FIXED} px they make no picture.")
    multiple = next((step for step in (8, 4, 2) if height % step == width % step == 0), 1)
    sizes = SizeRequirements(multiple, min(height, width), (width, height))
    return sizes, Finding("sides", f"{width} x {height} px and no others", why)


def _runs(net: Net, height: int, width: int) -> bool:
    return net.run(noise(height, width)) is not None


def noise(height: int, width: int, low: float = 0.0, high: float = 1.0, *, seed: int = 0) -> Tensor:
    """(height, width, 3) float32, even between ``low`` and ``high``; the same for the same seed."""
    return np.random.default_rng(seed).uniform(low, high, (height, width, 3)).astype(np.float32)


def probe_side(sizes: SizeRequirements, wanted: int) -> tuple[int, int]:
    """(height, width) near ``wanted`` px a side that ``sizes`` allows."""
    if sizes.fixed is not None:
        return sizes.fixed[1], sizes.fixed[0]
    side = round_up(max(wanted, sizes.minimum), sizes.multiple_of)
    return side, side
