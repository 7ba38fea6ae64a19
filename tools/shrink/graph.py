"""What a network's graph says: which nodes carry weights, which come first and last, which normalise.

Pure: models come in as onnx.ModelProto and are left as they are; functions that change one return a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from onnx import GraphProto, ModelProto, NodeProto

WEIGHTED: Final = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
"""Operators that hold nearly all of a network's weights and its work."""

_REDUCTIONS: Final = frozenset(
    {
        "GlobalAveragePool",
        "GlobalMaxPool",
        "ReduceL2",
        "ReduceMax",
        "ReduceMean",
        "ReduceMin",
        "ReduceSum",
        "ReduceSumSquare",
        "Softmax",
    }
)
_NORMALIZERS: Final = frozenset(
    {
        "GroupNormalization",
        "InstanceNormalization",
        "LayerNormalization",
        "LpNormalization",
        "MeanVarianceNormalization",
    }
)
# Root, reciprocal and quotient stretch small numbers: 8 bit and half precision lose them wherever they are.
_DELICATE: Final = frozenset({"Div", "Exp", "Log", "Pow", "Reciprocal", "Sqrt"})
_ELEMENTWISE: Final = frozenset({"Add", "Div", "Mul", "Pow", "Reciprocal", "Sqrt", "Sub"})
_MOVERS: Final = frozenset({"Cast", "Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})


def copy_of(model: ModelProto) -> ModelProto:
    """A model of its own, equal to ``model``."""
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy


def with_names(model: ModelProto) -> ModelProto:
    """A copy whose nodes all have names, each once: nodes are told apart by name from here on."""
    named = copy_of(model)
    taken = {node.name for node in named.graph.node}
    seen: set[str] = {""}
    for number, node in enumerate(named.graph.node):
        if node.name in seen:
            node.name = _free_name(f"{node.op_type}_{number}", taken)
            taken.add(node.name)
        seen.add(node.name)
    return named


def _free_name(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name


def without_notes(model: ModelProto) -> ModelProto:
    """A copy without what runs nothing: shapes of inner tensors, doc strings, exporters' notes."""
    bare = copy_of(model)
    bare.doc_string = ""
    del bare.metadata_props[:]
    del bare.graph.value_info[:]
    bare.graph.doc_string = ""
    for node in bare.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    return bare


def in_order(model: ModelProto) -> ModelProto:
    """A copy whose nodes come after those whose outputs they take, as the ONNX specification asks."""
    ordered = copy_of(model)
    graph = ordered.graph
    known = {item.name for item in (*graph.input, *graph.initializer)} | {""}
    waiting, nodes = list(graph.node), []
    while waiting:
        ready = [node for node in waiting if known.issuperset(node.input)]
        if not ready:
            raise ValueError("the graph has a circle, or an input that nothing makes")
        for node in ready:
            known.update(node.output)
        nodes += ready
        waiting = [node for node in waiting if not known.issuperset(node.output)]
    del graph.node[:]
    graph.node.extend(nodes)
    return ordered


def constants(graph: GraphProto) -> frozenset[str]:
    """Names of the tensors that are the same in every run: initializers and outputs of Constant nodes."""
    made = (name for node in graph.node if node.op_type == "Constant" for name in node.output)
    return frozenset((*(item.name for item in graph.initializer), *made, ""))


def weighted_nodes(model: ModelProto) -> list[NodeProto]:
    """Nodes of WEIGHTED operators, in the order of the graph."""
    return [node for node in model.graph.node if node.op_type in WEIGHTED]


def outer_weighted_nodes(model: ModelProto) -> frozenset[str]:
    """Names of the first and the last nodes with weights: none before, or none after them, on any path."""
    weighted = weighted_nodes(model)
    behind = _reached(model.graph.node, weighted)
    ahead = _reached(reversed(model.graph.node), weighted, backwards=True)
    return frozenset(node.name for node in weighted if node.name not in behind or node.name not in ahead)


def _reached(nodes: Iterable[NodeProto], starts: list[NodeProto], *, backwards: bool = False) -> frozenset[str]:
    """Names of the nodes that a start leads to, not counting a start that none other leads to."""
    names = {node.name for node in starts}
    tensors: set[str] = set()
    reached = set()
    for node in nodes:
        takes, gives = (node.output, node.input) if backwards else (node.input, node.output)
        if not tensors.isdisjoint(takes):
            reached.add(node.name)
        if node.name in names or node.name in reached:
            tensors.update(filter(None, gives))
    return frozenset(reached)


def normalizing_nodes(model: ModelProto) -> frozenset[str]:
    """Names of the nodes that normalise over the picture, and of what belongs to them.

    Exporters write instance and layer norm as many nodes: mean, difference, square, mean, root, quotient, scale, shift.
    These carry no work worth saving, and their small and large numbers fit neither 8 bit nor half precision: squares
    of 300 overflow the latter.
    """
    graph = model.graph
    fixed = constants(graph)
    statistics = _statistics(graph, fixed)
    names = {node.name for node in graph.node if _is_norm(node, statistics, fixed)}
    names |= _scales_and_shifts(graph, names, fixed)
    return frozenset(names | _squares(graph, names))


def _statistics(graph: GraphProto, fixed: Collection[str]) -> frozenset[str]:
    """Tensors made of nothing but reductions and constants: means, variances and what is reckoned from them."""
    found: set[str] = set()
    for node in graph.node:
        varying = [name for name in node.input if name not in fixed]
        derived = node.op_type in _ELEMENTWISE | _MOVERS and varying and found.issuperset(varying)
        if node.op_type in _REDUCTIONS or derived:
            found.update(node.output)
    return frozenset(found)


def _is_norm(node: NodeProto, statistics: Collection[str], fixed: Collection[str]) -> bool:
    if node.op_type in _REDUCTIONS | _NORMALIZERS:
        return True
    if node.op_type in _DELICATE:
        return not all(name in fixed for name in node.input)
    return node.op_type in _ELEMENTWISE | _MOVERS and any(name in statistics for name in node.input)


def _scales_and_shifts(graph: GraphProto, norms: Collection[str], fixed: Collection[str]) -> set[str]:
    """Elementwise nodes with a constant that follow a norm."""
    tensors = {name for node in graph.node if node.name in norms for name in node.output}
    found = set()
    for node in graph.node:
        varying = [name for name in node.input if name not in fixed]
        if node.op_type in _ELEMENTWISE and len(varying) == 1 and varying[0] in tensors:
            found.add(node.name)
            tensors.update(node.output)
    return found


def _squares(graph: GraphProto, norms: Collection[str]) -> set[str]:
    """Elementwise nodes whose output goes nowhere but into norms."""
    takers = _takers(graph)
    found: set[str] = set()
    for node in reversed(graph.node):
        followers = [taker for name in node.output for taker in takers.get(name, ["output"])]
        if node.op_type in _ELEMENTWISE and all(taker in norms or taker in found for taker in followers):
            found.add(node.name)
    return found


def _takers(graph: GraphProto) -> dict[str, list[str]]:
    """Names of the nodes that take each tensor; tensors that nothing takes are not in it."""
    takers: dict[str, list[str]] = {}
    for node in graph.node:
        for name in node.input:
            takers.setdefault(name, []).append(node.name)
    return takers


def count_operators(model: ModelProto) -> int:
    """How many nodes do something: Constant nodes do not."""
    return sum(node.op_type != "Constant" for node in model.graph.node)


def small_to_large(names: Iterable[str], model: ModelProto) -> Iterator[str]:
    """``names`` in the order of the graph."""
    wanted = frozenset(names)
    return (node.name for node in model.graph.node if node.name in wanted)
