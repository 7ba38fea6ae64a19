"""What a network's graph says: which nodes carry weights, which come first and last, which normalise.

Pure: models come in as onnx.ModelProto and are left as they are; functions that change one return a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
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


def opset(model: ModelProto) -> int:
    """Version of the standard operators."""
    return max((item.version for item in model.opset_import if item.domain in ("", "ai.onnx")), default=1)


def without_empty_inputs(model: ModelProto) -> ModelProto:
    """A copy whose Resize nodes say "no scales" by a missing input, not by an empty tensor.

    Both mean the same from opset 13 on, but once a Cast stands before the tensor, that it is empty shows in a run only.
    Exporters let the region of interest and the scales share one empty tensor.
    """
    clear = copy_of(model)
    empty = {item.name for item in clear.graph.initializer if 0 in item.dims}
    for node in clear.graph.node:
        if node.op_type == "Resize":
            inputs = ["" if name in empty else name for name in node.input]
            del node.input[:]
            node.input.extend(inputs)
    return clear


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


def fixed_tensors(graph: GraphProto) -> frozenset[str]:
    """Names of the tensors that are the same for all pictures of a size: constants, sizes, what is made of them."""
    fixed = {item.name for item in graph.initializer} | {""}
    for node in graph.node:
        if node.op_type in ("Shape", "Size") or fixed.issuperset(node.input):
            fixed.update(node.output)
    return frozenset(fixed)


def outer_nodes(model: ModelProto) -> frozenset[str]:
    """Names of the first and the last nodes: those with no node with weights before them, or none after, on any path.

    The first and the last layers with weights are among them, and what joins them to the picture and the answer.
    """
    graph = model.graph
    inner = _reached(graph.node) & _reached(reversed(graph.node), backwards=True)
    return frozenset(node.name for node in graph.node if node.name not in inner)


def _reached(nodes: Iterable[NodeProto], *, backwards: bool = False) -> frozenset[str]:
    """Names of the nodes that a node with weights leads to, or backwards, that lead to one."""
    tensors: set[str] = set()
    reached = set()
    for node in nodes:
        takes, gives = (node.output, node.input) if backwards else (node.input, node.output)
        led_to = not tensors.isdisjoint(takes)
        if led_to:
            reached.add(node.name)
        if led_to or node.op_type in WEIGHTED:
            tensors.update(filter(None, gives))
    return frozenset(reached)


def normalizing_nodes(model: ModelProto) -> frozenset[str]:
    """Names of the nodes that normalise over the picture, and of what belongs to them.

    Exporters write instance and layer norm as many nodes: mean, difference, square, mean, root, quotient, scale, shift.
    These carry no work worth saving, and their small and large numbers fit neither 8 bit nor half precision: squares
    of 300 overflow the latter.
    """
    graph = model.graph
    fixed = fixed_tensors(graph)
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
