"""Numbers that keep norms from dividing by zero, and that are lost where a file keeps its numbers in half precision.

1e-5 is so small in FP16 that converters may write 0 for it, as in AnimeGANv3_Hayao_36_QUANTIZED_fp16.tflite: the square
root then has nothing added under it, and a picture without variation comes out as NaN, in TensorFlow just as in ONNX.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper

EPSILON: Final = 1e-5
"""What AnimeGAN's norms add to the variance."""

_NAME: Final = "variance_epsilon"


def restore_epsilons(model: ModelProto) -> int:
    """Put EPSILON back, in ``model`` itself, where 0 is added under a square root; how many times it was."""
    graph = model.graph
    zeros = {tensor.name for tensor in graph.initializer if _is_zero(numpy_helper.to_array(tensor))}
    roots = {node.input[0] for node in graph.node if node.op_type == "Sqrt"}
    lost = [node for node in graph.node if node.op_type == "Add" and node.output[0] in roots and zeros & {*node.input}]
    for node in lost:
        _replace(node, zeros)
    if lost:
        graph.initializer.append(numpy_helper.from_array(np.array(EPSILON, np.float32), _NAME))
    return len(lost)


def _is_zero(value: np.ndarray) -> bool:
    return value.size == 1 and value.dtype == np.float32 and not value.any()


def _replace(node: NodeProto, zeros: set[str]) -> None:
    inputs = [_NAME if name in zeros else name for name in node.input]
    node.CopyFrom(helper.make_node("Add", inputs, list(node.output), name=node.name))
