"""Small networks for the tests, and how they are run."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from app.types import Tensor


def network(
    nodes: list[NodeProto], constants: dict[str, np.ndarray], shape: list[object], *, answer: list[object] | None = None
) -> ModelProto:
    """A network from ``input`` of ``shape`` to ``output`` of ``answer`` (None: the same)."""
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, axes)
        for name, axes in (("input", shape), ("output", answer or shape))
    ]
    weights = [numpy_helper.from_array(values, name) for name, values in constants.items()]
    graph = helper.make_graph(nodes, "test", [ports[0]], [ports[1]], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(model: ModelProto, tensor: Tensor) -> Tensor:
    """The output of ``model`` for ``tensor``."""
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: tensor})[0]


def noise(*shape: int) -> Tensor:
    """Numbers from -1 to 1, the same every time."""
    return np.random.default_rng(3).uniform(-1, 1, shape).astype(np.float32)


def three_convolutions() -> dict[str, np.ndarray]:
    """Weights of a little network: 3 to 8 to 8 to 3 channels, 3 x 3 px."""
    draw = np.random.default_rng(4)
    sizes = {"first": (8, 3), "middle": (8, 8), "last": (3, 8)}
    weights = {name: draw.normal(0, 0.2, (*size, 3, 3)).astype(np.float32) for name, size in sizes.items()}
    biases = {f"{name} bias": draw.normal(0, 0.1, size[0]).astype(np.float32) for name, size in sizes.items()}
    return {**weights, **biases}


def convolution(name: str, source: str, target: str) -> NodeProto:
    """A convolution with weights called ``name`` that keeps the size."""
    inputs = [source, name, f"{name} bias"]
    return helper.make_node("Conv", inputs, [target], kernel_shape=[3, 3], pads=[1, 1, 1, 1])


def little_network(shape: list[object]) -> ModelProto:
    """Three convolutions with ReLU between them and tanh at the end."""
    nodes = [
        convolution("first", "input", "a"),
        helper.make_node("Relu", ["a"], ["b"]),
        convolution("middle", "b", "c"),
        helper.make_node("Relu", ["c"], ["d"]),
        convolution("last", "d", "e"),
        helper.make_node("Tanh", ["e"], ["output"]),
    ]
    return network(nodes, three_convolutions(), shape)
