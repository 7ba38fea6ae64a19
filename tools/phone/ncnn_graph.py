"""The network said in what ncnn knows: the same numbers, other operators.

pnnx takes an ONNX file and writes one for ncnn, and what neither knows it writes all the same. What AnimeGAN networks
need is put in other words here first; each rewriting is exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
from onnx import ModelProto, NodeProto, helper, numpy_helper

from app.inference.card import ModelCard
from tools.phone.fixed import folded
from tools.phone.sizes import Size

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""Of every tensor in a graph of fixed size."""

Rewriting: TypeAlias = Callable[[NodeProto, ModelProto, Shapes], list[NodeProto] | None]
"""What stands in for a node, or None where it may stay."""

_RESHAPES: Final = frozenset({"Flatten", "Reshape", "Squeeze", "Unsqueeze"})

TO_NHWC: Final = (0, 2, 3, 1)
TO_NCHW: Final = (0, 3, 1, 2)

# Since 18 the axes of ReduceMean are an input, as those of ReduceSum are since 13 (ONNX operator changelog).
_AXES_AS_INPUT: Final = 18


def ncnn_network(model: ModelProto, card: ModelCard, size: Size) -> ModelProto:
    """``model``, of fixed ``size``, with planes of channels in and out and without what ncnn lacks."""
    if card.layout == "NHWC":
        model = folded(_in_planes(model, card, size))
    for rewriting in (_doubling, _sum_as_mean, _one_reshape):
        model = _rewritten(model, rewriting)
    return _without_dead_ends(model)


def _in_planes(model: ModelProto, card: ModelCard, size: Size) -> ModelProto:
    """A copy whose input and output are NCHW. Transposing at both ends is what the exporter did, and cancels it out."""
    copy = _copy_of(model)
    graph, inner = copy.graph, {card.input_name: "nhwc input", card.output_name: "nhwc output"}
    for node in graph.node:
        node.input[:] = [inner.get(name, name) for name in node.input]
        node.output[:] = [inner.get(name, name) for name in node.output]
    for port in (*graph.input, *graph.output):
        width, height = size
        for dimension, length in zip(port.type.tensor_type.shape.dim, (1, 3, height, width), strict=True):
            dimension.dim_value = length
    del graph.value_info[:]
    graph.node.insert(0, helper.make_node("Transpose", [card.input_name], ["nhwc input"], perm=TO_NHWC))
    graph.node.append(helper.make_node("Transpose", ["nhwc output"], [card.output_name], perm=TO_NCHW))
    return copy


def _rewritten(model: ModelProto, rewriting: Rewriting) -> ModelProto:
    copy = _copy_of(model)
    shapes = _shapes(copy)
    nodes = [new for node in model.graph.node for new in rewriting(node, copy, shapes) or [node]]
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy


def _copy_of(model: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy


def _shapes(model: ModelProto) -> Shapes:
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    ports = (*graph.input, *graph.output, *graph.value_info)
    return {port.name: tuple(axis.dim_value for axis in port.type.tensor_type.shape.dim) for port in ports}


def _constant(model: ModelProto, name: str, values: npt.NDArray[np.generic]) -> str:
    model.graph.initializer.append(numpy_helper.from_array(values, name))
    return name


def _doubling(node: NodeProto, model: ModelProto, shapes: Shapes) -> list[NodeProto] | None:
    """TensorFlow's old way to double a picture: new pixels halfway to the next, the last one repeated.

    ncnn's Interp counts from the middles of the pixels instead. So: each pixel and its neighbours to the right and
    below give four, by a convolution of 2 x 2 px, which are then laid side by side.
    """
    wanted = {"mode": b"linear", "coordinate_transformation_mode": b"asymmetric"}
    if node.op_type != "Resize" or not wanted.items() <= _attributes(node).items():
        return None
    (_, channels, height, width), doubled = shapes[node.input[0]], shapes[node.output[0]]
    if doubled[2:] != (2 * height, 2 * width):
        return None
    name = node.output[0]
    weights = np.tile(_HALFWAY, (channels, 1, 1, 1))
    edges = np.array([0, 0, 0, 0, 0, 0, 1, 1], np.int64)
    names = _constant(model, f"{name} weights", weights), _constant(model, f"{name} edges", edges)
    return [
        helper.make_node("Pad", [node.input[0], names[1]], [f"{name} padded"], mode="edge"),
        helper.make_node("Conv", [f"{name} padded", names[0]], [f"{name} four"], group=channels, kernel_shape=[2, 2]),
        helper.make_node("DepthToSpace", [f"{name} four"], [name], blocksize=2, mode="CRD"),
    ]


_HALFWAY: Final = np.array(
    [[[1, 0], [0, 0]], [[0.5, 0.5], [0, 0]], [[0.5, 0], [0.5, 0]], [[0.25, 0.25], [0.25, 0.25]]], np.float32
)[:, np.newaxis]
"""(4, 1, 2, 2): the pixel itself, halfway to the right, halfway down, halfway both."""


def _sum_as_mean(node: NodeProto, model: ModelProto, shapes: Shapes) -> list[NodeProto] | None:
    """A sum along axes as their mean times how many they are: of a sum, pnnx 20261020 loses the axes."""
    axes = _values(model, node.input[1]) if node.op_type == "ReduceSum" and len(node.input) > 1 else None
    if axes is None or _opset(model) >= _AXES_AS_INPUT:
        return None
    name, keep = node.output[0], int(_attributes(node).get("keepdims", 1))
    count = np.prod([shapes[node.input[0]][axis] for axis in axes])
    factor = _constant(model, f"{name} count", np.array(count, np.float32))
    return [
        helper.make_node("ReduceMean", [node.input[0]], [f"{name} mean"], axes=axes.tolist(), keepdims=keep),
        helper.make_node("Mul", [f"{name} mean", factor], [name]),
    ]


def _one_reshape(node: NodeProto, model: ModelProto, shapes: Shapes) -> list[NodeProto] | None:
    """Reshape from the first of several in a row: pnnx knows pixel unshuffle by its two reshapes, not by four."""
    if node.op_type not in _RESHAPES:
        return None
    makers = {name: maker for maker in model.graph.node for name in maker.output}
    source = node.input[0]
    while source in makers and makers[source].op_type in _RESHAPES:
        source = makers[source].input[0]
    name = node.output[0]
    shape = _constant(model, f"{name} shape", np.array(shapes[name], np.int64))
    return [helper.make_node("Reshape", [source, shape], [name], name=node.name)]


def _attributes(node: NodeProto) -> dict[str, Any]:
    return {item.name: helper.get_attribute_value(item) for item in node.attribute}


def _values(model: ModelProto, name: str) -> npt.NDArray[np.int64] | None:
    found = (numpy_helper.to_array(item) for item in model.graph.initializer if item.name == name)
    return next(found, None)


def _opset(model: ModelProto) -> int:
    return int(next(entry.version for entry in model.opset_import if entry.domain == ""))


def _without_dead_ends(model: ModelProto) -> ModelProto:
    copy = _copy_of(model)
    while dead := list(_dead_ends(copy)):
        for node in dead:
            copy.graph.node.remove(node)
    return copy


def _dead_ends(model: ModelProto) -> Iterator[NodeProto]:
    used = {name for node in model.graph.node for name in node.input} | {port.name for port in model.graph.output}
    return (node for node in model.graph.node if used.isdisjoint(node.output))
