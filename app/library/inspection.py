"""A look at a network file: all that its card must say, found by reading the graph and by running it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.errors import ModelError
from app.imaging.sizing import SizeRequirements, resize
from app.inference.card import ChannelOrder, Layout
from app.inference.session import BareSession
from app.library.findings import Finding, NoStyle
from app.library.graph import Graph, read_graph
from app.library.kinds import network_suffix
from app.library.net import Net, open_net, shape_text
from app.library.ranges import Range, Ranges, find_ranges
from app.library.reach import Reach, find_reach
from app.library.sides import find_sides, probe_side
from app.types import RgbImage

PHOTO_SIDE: Final = 192
"""Pixels a side of the photos sent through: small enough to be quick, large enough for lines and tones."""

_FEW_PIXELS: Final = 256 * 256
"""Above this, as with fixed sides of 512 px, one photo must do."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the owner says of a network; what is None is found out."""

    layout: Layout | None = None
    output_name: str | None = None
    input_range: Range | None = None
    output_range: Range | None = None
    channel_order: ChannelOrder | None = None
    multiple_of: int | None = None
    minimum: int | None = None
    local: bool | None = None
    halo: int | None = None


NO_WISHES: Final = Wishes()


@dataclass(frozen=True, slots=True)
class Needs:
    """What a network needs, in the words of its card, and how each thing is known."""

    layout: Layout
    input_name: str
    output_name: str
    input_range: Range
    output_range: Range
    channel_order: ChannelOrder
    sizes: SizeRequirements
    local: bool
    halo: int
    findings: tuple[Finding, ...]


def inspect_network(
    path: Path, photos: Sequence[RgbImage], *, threads: int, wishes: Wishes = NO_WISHES, name: str = ""
) -> Needs:
    """Look at the network in ``path``, an ONNX file or one of ONNX Runtime's own format.

    photos: known pictures, (H, W, 3) uint8, sent through at a small size. name: what sentences call the file; default,
    its own. Raises ModelError, with the reason, where
    the file cannot be used or the network is not one from a picture to a picture of the same size.
    """
    name = name or path.name
    network_suffix(path, name)
    graph = read_graph(path.read_bytes())
    if graph is not None and graph.external:
        raise ModelError(f"{name} keeps its weights in a second file: export it as one.")
    try:
        return _needs(BareSession(path, threads=threads, name=name), graph, photos, wishes)
    except NoStyle as error:
        raise ModelError(f"{name} cannot be a style: {error}") from None


def _needs(session: BareSession, graph: Graph | None, photos: Sequence[RgbImage], wishes: Wishes) -> Needs:
    net = open_net(session, layout=wishes.layout, output_name=wishes.output_name)
    sizes, sides_finding = find_sides(net, multiple_of=wishes.multiple_of, minimum=wishes.minimum)
    ranges = _ranges(net, sizes, photos, graph, wishes)
    operators = graph.operators if graph else {}
    stated = wishes.multiple_of is not None
    reach = _with_wishes(find_reach(net.run, sizes, ranges.input, operators, keep_multiple=stated), wishes)
    findings = (_layout_finding(net), *ranges.findings, sides_finding, *reach.findings)
    return Needs(
        layout=net.layout,
        input_name=net.input_name,
        output_name=net.output_name,
        input_range=ranges.input,
        output_range=ranges.output,
        channel_order=ranges.order,
        sizes=reach.sizes,
        local=reach.local,
        halo=reach.halo,
        findings=findings,
    )


def _layout_finding(net: Net) -> Finding:
    shape = shape_text(net.session.inputs[0].shape)
    height, width = net.trial
    return Finding("layout", net.layout, f"the input is {shape}; {height} x {width} px came back as such")


def _ranges(
    net: Net, sizes: SizeRequirements, photos: Sequence[RgbImage], graph: Graph | None, wishes: Wishes
) -> Ranges:
    height, width = probe_side(sizes, PHOTO_SIDE)
    used = photos if height * width <= _FEW_PIXELS else photos[:1]
    return find_ranges(
        net.run,
        [resize(photo, width, height) for photo in used],
        activation=graph.endings.get(net.output_name) if graph else None,
        input_range=wishes.input_range,
        output_range=wishes.output_range,
        channel_order=wishes.channel_order,
    )


def _with_wishes(reach: Reach, wishes: Wishes) -> Reach:
    local = reach.local if wishes.local is None else wishes.local
    halo = reach.halo if wishes.halo is None else wishes.halo
    if (local, halo) == (reach.local, reach.halo):
        return reach
    findings = (
        Finding("local", "yes" if local else "no", reach.findings[0].why if wishes.local is None else "as told"),
        Finding("halo", f"{halo} px", reach.findings[1].why if wishes.halo is None else "as told"),
    )
    return Reach(local, halo, reach.sizes, findings)
