"""Whether a network looks at a bounded neighbourhood alone, and if so, how large a halo makes tiles exact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from app.imaging.sizing import SizeRequirements, round_up
from app.inference.stylizer import RAMP, TILE_SIDE
from app.library.findings import Finding
from app.library.influence import STRIP, FarInfluence, Run, edge_reach, far_influence, piece_difference, strip, upright
from app.library.ranges import Range

GLOBAL_OPERATORS: Final = frozenset(
    (
        "GlobalAveragePool",
        "GlobalLpPool",
        "GlobalMaxPool",
        "InstanceNormalization",
        "GroupNormalization",
        "MeanVarianceNormalization",
        "DynamicQuantizeLinear",
    )
)
"""Operators that put the whole picture into one number (ONNX operator definitions)."""

RIM: Final = 48
"""Pixels of a tile's rim dropped where a network is not local: 32 to 48 hide its border."""

HALO_STEP: Final = 16
"""Halos are rounded up to this: quantised networks hide the weakest influences, so a little room is kept."""

SAME: Final = 1e-4
"""Largest difference, in parts of the range, between two pieces that counts as none (0.03 of 255)."""

_LARGEST_STRIDE: Final = 64


@dataclass(frozen=True, slots=True)
class Reach:
    """local, halo: as on the card. sizes: with a larger multiple where tiles need one to meet the network's strides."""

    local: bool
    halo: int
    sizes: SizeRequirements
    findings: tuple[Finding, ...]


def find_reach(
    run: Run,
    sizes: SizeRequirements,
    input_range: Range,
    operators: Mapping[str, int],
    *,
    keep_multiple: bool = False,
) -> Reach:
    """How far a network of ``sizes`` looks.

    operators: of its graph, as often as each occurs; empty if not known. keep_multiple: tiles begin at multiples of
    ``sizes.multiple_of`` and no others.
    """
    global_ones = [f"{count} {name}" for name, count in sorted(operators.items()) if name in GLOBAL_OPERATORS]
    known = f"the graph has {', '.join(global_ones)}; " if global_ones else ""
    far = far_influence(run, strip(sizes, STRIP), *input_range)
    if far is None:
        return _not_local(sizes, f"{known}it does not run on a long strip")
    if far.change or global_ones:
        return _not_local(sizes, known + _far_text(far))
    return _local(run, sizes, input_range, far.reach, [sizes.multiple_of] if keep_multiple else _multiples(sizes))


def _far_text(far: FarInfluence) -> str:
    if far.change:
        return f"noise {far.beyond} px away and further changed its answer by {far.change:.1e}"
    return f"though noise {far.beyond} px away changed nothing"


def _local(run: Run, sizes: SizeRequirements, input_range: Range, roughly: int, multiples: Iterable[int]) -> Reach:
    reach = max(roughly, _measured(run, sizes, input_range, roughly))
    for multiple in multiples:
        found = SizeRequirements(multiple, round_up(sizes.minimum, multiple), sizes.fixed)
        for halo in _halos(reach):
            difference = piece_difference(run, found, halo, *input_range)
            if difference is not None and difference <= SAME and _fits_a_tile(found, halo):
                return _is_local(found, halo, reach, difference)
    return _not_local(sizes, f"it seems to look {reach} px far, but pieces cut by that differ from each other")


def _measured(run: Run, sizes: SizeRequirements, input_range: Range, roughly: int) -> int:
    """The furthest influence in px, both ways along both axes, at the phases of the strides that matter most."""
    step = max(sizes.multiple_of, 8)
    # The first and the last pixels of a stride's cell reach furthest into the next one.
    phases = sorted({0, 1, 2, step // 2, step - 2, step - 1})
    reaches = []
    for down in (False, True):
        shape = strip(sizes, 2 * (roughly + 3 * step), down=down)
        middle = shape[1] // 2 // step * step
        reaches += [edge_reach(upright(run, down=down), shape, middle + phase, *input_range) for phase in phases]
    return max(reaches)


def _multiples(sizes: SizeRequirements) -> list[int]:
    """The network's own multiple and larger ones: where it pads inside, tiles must begin at its strides' multiples."""
    steps = [sizes.multiple_of * factor for factor in (1, 2, 4, 8) if sizes.multiple_of * factor <= _LARGEST_STRIDE]
    if sizes.fixed is not None:
        steps = [step for step in steps if all(side % step == 0 for side in sizes.fixed)]
    return steps or [sizes.multiple_of]


def _halos(reach: int) -> Iterable[int]:
    first = round_up(reach, HALO_STEP)
    return (first, first + HALO_STEP, first + 2 * HALO_STEP)


def _fits_a_tile(sizes: SizeRequirements, halo: int) -> bool:
    return min(sizes.fixed or (TILE_SIDE,)) - 2 * halo >= sizes.multiple_of


def _is_local(sizes: SizeRequirements, halo: int, reach: int, difference: float) -> Reach:
    differ = f"differ by {difference:.0e} of the range" if difference else "do not differ"
    findings = (
        Finding("local", "yes", f"noise further than {reach} px away changed nothing, to the last bit"),
        Finding("halo", f"{halo} px", f"inside it two pieces cut {sizes.multiple_of} px apart {differ}"),
    )
    return Reach(True, halo, sizes, findings)


def _not_local(sizes: SizeRequirements, why: str) -> Reach:
    rim = RIM if sizes.fixed is None else max(0, min(RIM, (min(sizes.fixed) - 2 * RAMP) // 2))
    findings = (
        Finding("local", "no", why),
        Finding("halo", f"{rim} px", "of a tile's rim are dropped, which hides its border; tones may still differ"),
    )
    return Reach(False, rim, sizes, findings)
