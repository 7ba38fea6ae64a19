"""Graphs for tests, as tf2onnx writes them."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper


def norm_over_the_picture(epsilon: float, shape: tuple[object, ...] = ("n", "h", "w", 3)) -> ModelProto:
    """(x - mean) / sqrt(variance + epsilon), NHWC, as tf2onnx writes it."""
    nodes = [
        helper.make_node("ReduceMean", ["x:0"], ["mean"], axes=[1, 2]),
        helper.make_node("Sub", ["x:0", "mean"], ["centred"]),
        helper.make_node("Mul", ["centred", "centred"], ["squares"]),
        helper.make_node("ReduceMean", ["squares"], ["variance"], axes=[1, 2]),
        helper.make_node("Add", ["variance", "epsilon"], ["sum"]),
        helper.make_node("Sqrt", ["sum"], ["spread"]),
        helper.make_node("Div", ["centred", "spread"], ["normal"]),
        # An honest zero elsewhere stays.
        helper.make_node("Add", ["normal", "zero"], ["y:0"]),
    ]
    constants = {"epsilon": epsilon, "zero": 0.0}
    graph = helper.make_graph(
        nodes,
        "norm",
        [helper.make_tensor_value_info("x:0", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y:0", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.array(value, np.float32), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
