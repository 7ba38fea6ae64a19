"""ONNX files in and out."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import ModelProto, TensorProto

from tools.command import ToolError, check_file

_QUANTIZED = frozenset({"ConvInteger", "DequantizeLinear", "MatMulInteger", "QLinearConv", "QLinearMatMul"})


def read_model(path: Path) -> ModelProto:
    """The graph in ``path``. Raises ToolError for what is no whole ONNX network."""
    check_file(path)
    try:
        model = onnx.load(path)
        onnx.checker.check_model(model)
    # Protobuf's error for broken bytes has no name in onnx, and protobuf is no package we ask for.
    except Exception as error:
        raise ToolError(f"{path} is no whole ONNX network: {_first_line(error)}.") from error
    return model


def read_full_precision(path: Path) -> ModelProto:
    """The graph in ``path``. Raises ToolError, too, where it has been made smaller before."""
    model = read_model(path)
    quantized = any(node.op_type in _QUANTIZED for node in model.graph.node)
    if quantized or any(weights.data_type == TensorProto.FLOAT16 for weights in model.graph.initializer):
        raise ToolError(f"{path} is in {'INT8' if quantized else 'FP16'} already: start from the FP32 network.")
    return model


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def write_model(model: ModelProto, path: Path) -> None:
    """Write ``model`` to ``path`` after the specification's own check. Raises ValidationError where it fails that."""
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString(deterministic=True))
