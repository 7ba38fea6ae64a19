"""FP16: weights alone, or the arithmetic too, with float32 in and out.

Weights alone: the file is half as large; ONNX Runtime turns them back while it loads, and runs the FP32 network. Full:
for processors and chips that reckon in half precision. An x86 processor does not: there ONNX Runtime wraps the nodes
in casts, which hides what half precision does to the numbers. ``rounded`` shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, shape_inference
from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST, convert_float_to_float16

from tools.shrink.graph import in_order, normalizing_nodes, opset, without_empty_inputs, without_notes
from tools.shrink.ranges import Ranges

LEAST_HALVED: Final = 64
"""Elements: smaller tensors hold scales, sizes and constants of the arithmetic, where half precision saves nothing."""

LARGEST: Final = float(np.finfo(np.float16).max)

HEADROOM: Final = 4.0
"""A node whose numbers came within this factor of LARGEST stays FP32: other pictures may go further."""

# Opset from which Resize may lack scales; before that, "none" is an empty tensor, which must not come out of a Cast.
_OPTIONAL_SCALES: Final = 13


def half_weights(model: ModelProto) -> ModelProto:
    """A copy whose larger tensors of weights are float16, each with a Cast to float32 behind it.

    Tensors with a number beyond half precision stay. Subgraphs are left alone.
    """
    halved = without_notes(model)
    casts = []
    for weights in halved.graph.initializer:
        cast = _halve(weights)
        if cast is not None:
            casts.append(cast)
    nodes = [*casts, *halved.graph.node]
    del halved.graph.node[:]
    halved.graph.node.extend(nodes)
    return halved


def _halve(weights: TensorProto) -> NodeProto | None:
    """Make ``weights`` float16 under another name; the Cast that gives back their name. None where they stay."""
    if weights.data_type != TensorProto.FLOAT or np.prod(weights.dims, dtype=np.int64) < LEAST_HALVED:
        return None
    values = numpy_helper.to_array(weights)
    if np.abs(values).max() > LARGEST:
        return None
    name = weights.name
    weights.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}_fp16"))
    return helper.make_node("Cast", [weights.name], [name], name=f"{name}_to_fp32", to=TensorProto.FLOAT)


def half(model: ModelProto, kept: Collection[str]) -> ModelProto:
    """A copy that reckons in float16, with float32 in and out, but for the nodes named in ``kept``."""
    converted = convert_float_to_float16(without_empty_inputs(model), keep_io_types=True, node_block_list=sorted(kept))
    # It puts its casts at the end, wherever they belong.
    return without_notes(in_order(converted))


def kept_full(model: ModelProto, ranges: Ranges) -> frozenset[str]:
    """Names of the nodes that stay FP32.

    Those whose operator does not take float16 (ONNX Runtime's list), those that normalise, and those whose numbers
    come near the largest of half precision.
    """
    limit = LARGEST / HEADROOM
    loud = {name for name, (low, high) in ranges.items() if max(-low, high) > limit}
    blocked = {*DEFAULT_OP_BLOCK_LIST, *(("Resize",) if opset(model) < _OPTIONAL_SCALES else ())}
    kept = {
        node.name
        for node in model.graph.node
        if node.op_type in blocked or not loud.isdisjoint((*node.input, *node.output))
    }
    return frozenset(kept | normalizing_nodes(model))


def rounded(model: ModelProto, kept: Collection[str]) -> ModelProto:
    """The FP32 network with each number rounded to float16 wherever ``half`` would hold it in float16.

    What a chip that reckons in half precision draws, but for its sums within one operator and the last rounding of the
    answer. To be judged, not kept.
    """
    twin = shape_inference.infer_shapes(without_empty_inputs(model))
    graph = twin.graph
    types = {info.name: info.type.tensor_type.elem_type for info in (*graph.value_info, *graph.input)}
    types |= {weights.name: weights.data_type for weights in graph.initializer}
    rounder = _Rounder(types, {name for node in graph.node if node.name not in kept for name in node.output})
    nodes = [made for node in graph.node for made in rounder.around(node, node.name in kept)]
    del graph.node[:]
    graph.node.extend(nodes)
    return without_notes(twin)


class _Rounder:
    """types: element type of each tensor. halves: tensors that nodes in half precision make."""

    def __init__(self, types: Mapping[str, int], halves: Collection[str]) -> None:
        self._types = types
        self._halves = halves
        self._done: set[str] = set()
        self._renamed: dict[str, str] = {}

    def around(self, node: NodeProto, kept: bool) -> list[NodeProto]:
        """``node`` behind the casts it needs; what it takes is then rounded."""
        casts = []
        for place, name in enumerate(node.input):
            if self._types.get(name) == TensorProto.FLOAT and (name in self._halves or not kept):
                casts += self._casts(name)
                node.input[place] = _rounded_name(name)
        return [*casts, node]

    def _casts(self, name: str) -> list[NodeProto]:
        if name in self._done:
            return []
        self._done.add(name)
        narrow = f"{name}_narrow"
        return [
            helper.make_node("Cast", [name], [narrow], name=f"{narrow}_cast", to=TensorProto.FLOAT16),
            helper.make_node("Cast", [narrow], [_rounded_name(name)], name=f"{name}_wide_cast", to=TensorProto.FLOAT),
        ]


def _rounded_name(name: str) -> str:
    return f"{name}_rounded"
