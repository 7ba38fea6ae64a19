"""Both ends of a network that tf2onnx made: one picture in, one out, NHWC, under the usual names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from onnx import ModelProto, TensorProto, ValueInfoProto

from tools.command import ToolError
from tools.onnx_names import INPUT, OUTPUT

_AXES: Final = ("batch", "height", "width")


def sides_of(model: ModelProto) -> tuple[int | None, int | None, int | None]:
    """Batch, height and width that the network takes; None is any."""
    lengths = [axis.dim_value or None for axis in model.graph.input[0].type.tensor_type.shape.dim]
    return lengths[0], lengths[1], lengths[2]


def name_ends(source: Path, model: ModelProto) -> None:
    """Call input and output INPUT and OUTPUT, and their free axes by what they are, in ``model`` itself.

    Raises ToolError where there is not one picture in and one out.
    """
    for side, ends in (("input", model.graph.input), ("output", model.graph.output)):
        if len(ends) != 1 or not _is_picture(ends[0]):
            raise ToolError(f"{source} has no single {side} of shape batch x height x width x 3: it makes no pictures.")
    _rename(model, model.graph.input[0], INPUT)
    _rename(model, model.graph.output[0], OUTPUT)


def _is_picture(end: ValueInfoProto) -> bool:
    tensor = end.type.tensor_type
    axes = tensor.shape.dim
    return tensor.elem_type == TensorProto.FLOAT and len(axes) == 4 and axes[3].dim_value == 3


def _rename(model: ModelProto, end: ValueInfoProto, name: str) -> None:
    old = end.name
    for node in model.graph.node:
        node.input[:] = [name if tensor == old else tensor for tensor in node.input]
        node.output[:] = [name if tensor == old else tensor for tensor in node.output]
    end.name = name
    for axis, word in zip(end.type.tensor_type.shape.dim, _AXES, strict=False):
        if not axis.dim_value:
            axis.dim_param = word
