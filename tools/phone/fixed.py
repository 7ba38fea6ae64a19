"""The network for one size: nothing left to be found out at run time, which phones' accelerators ask for."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import onnx
import onnxruntime as ort
from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto, ValueInfoProto, helper

from app.inference.card import ModelCard
from tools.command import ToolError, check_file
from tools.phone.sizes import Size

STANDARD_DOMAINS: Final = ("", "ai.onnx")
"""Operators of the ONNX specification itself, which every engine and converter knows."""

_QUIET: Final = 3


def read_network(path: Path) -> ModelProto:
    """The graph in ``path``. Raises ToolError where that is no ONNX file."""
    try:
        model = onnx.load(check_file(path))
    except DecodeError as error:
        raise ToolError(f"{path} is no ONNX file, which a bundle is made from.") from error
    if not model.graph.node:
        raise ToolError(f"{path} is no ONNX file, which a bundle is made from.")
    return model


def tensor_shape(card: ModelCard, size: Size) -> tuple[int, int, int, int]:
    """Of the card's input and output for one picture of ``size``."""
    width, height = size
    return (1, 3, height, width) if card.layout == "NCHW" else (1, height, width, 3)


def fixed_network(model: ModelProto, card: ModelCard, size: Size) -> ModelProto:
    """A copy of ``model`` that takes one picture of ``size``, all that follows from its shape worked out."""
    fixed = ModelProto()
    fixed.CopyFrom(model)
    for ports, name in ((fixed.graph.input, card.input_name), (fixed.graph.output, card.output_name)):
        _set_shape(next(port for port in ports if port.name == name), tensor_shape(card, size))
    # These may still say what is no longer true.
    del fixed.graph.value_info[:]
    halved = _set_aside(fixed)
    small = folded(fixed)
    _put_back(small, halved)
    return small


def _set_aside(model: ModelProto) -> list[TensorProto]:
    """Make inputs of the weights in half precision, and return them: folding would turn them to FP32."""
    graph = model.graph
    halved = [weights for weights in graph.initializer if weights.data_type == TensorProto.FLOAT16]
    kept = [weights for weights in graph.initializer if weights.data_type != TensorProto.FLOAT16]
    graph.input.extend(helper.make_tensor_value_info(it.name, it.data_type, it.dims) for it in halved)
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return halved


def _put_back(model: ModelProto, halved: Sequence[TensorProto]) -> None:
    """Make weights of the inputs of those names again."""
    names = {weights.name for weights in halved}
    ports = [port for port in model.graph.input if port.name not in names]
    del model.graph.input[:]
    model.graph.input.extend(ports)
    model.graph.initializer.extend(halved)


def _set_shape(port: ValueInfoProto, shape: tuple[int, ...]) -> None:
    dimensions = port.type.tensor_type.shape.dim
    del dimensions[:]
    for length in shape:
        dimensions.add().dim_value = length


def folded(model: ModelProto) -> ModelProto:
    """``model`` after ONNX Runtime's basic optimisation: constants folded, standard operators only."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "source.onnx"), Path(folder, "target.onnx")
        onnx.save(model, source)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(target)
        options.log_severity_level = _QUIET
        _build(source, options)
        return _with_used_domains(onnx.load(target))


def _build(source: Path, options: ort.SessionOptions) -> None:
    try:
        ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    # ONNX Runtime's exceptions have no common root but Exception.
    except Exception as error:
        raise ToolError("ONNX Runtime cannot build the network for this size.") from error


def _with_used_domains(model: ModelProto) -> ModelProto:
    # ONNX Runtime writes down every domain it knows, and other readers stumble over them.
    used = {node.domain for node in model.graph.node} | {""}
    kept = [entry for entry in model.opset_import if entry.domain in used]
    del model.opset_import[:]
    model.opset_import.extend(kept)
    return model
