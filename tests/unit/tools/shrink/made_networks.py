"""Small networks with known weights, as files and graphs: pictures in, pictures out, NCHW in [-1, 1]."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from app.inference.card import ModelCard
from app.types import RgbImage
from tools.pictures import Photo
from tools.shrink.panel import Panel

CHANNELS = 8


def conv(name: str, source: str, target: str, *, out: int = CHANNELS, into: int = CHANNELS) -> tuple[NodeProto, list]:
    """A 3 x 3 convolution and its weights; the same for the same name."""
    generator = np.random.default_rng(sum(name.encode()))
    scale = 0.5 / np.sqrt(9 * into)
    weight = generator.normal(0, scale, (out, into, 3, 3)).astype(np.float32)
    # Output channels of very different size: what weights per channel are for.
    weight *= np.linspace(0.3, 3, out, dtype=np.float32).reshape(-1, 1, 1, 1)
    bias = generator.normal(0, 0.05, out).astype(np.float32)
    node = helper.make_node("Conv", [source, f"{name}.weight", f"{name}.bias"], [target], name=name, pads=[1, 1, 1, 1])
    return node, [numpy_helper.from_array(weight, f"{name}.weight"), numpy_helper.from_array(bias, f"{name}.bias")]


def network(nodes: list[NodeProto], weights: list[TensorProto], *, opset: int = 17) -> ModelProto:
    """A checked network from ``input`` to ``output``, any batch and sides."""
    shape = ["batch", 3, "height", "width"]
    graph = helper.make_graph(
        nodes,
        "made",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def residual_network(*, opset: int = 17) -> ModelProto:
    """first, one, two, last: convolutions with ReLU between; the picture is added at the end."""
    parts = [
        conv("first", "input", "a", into=3),
        conv("one", "ra", "b"),
        conv("two", "rb", "c"),
        conv("last", "rc", "d", out=3),
    ]
    relus = [helper.make_node("Relu", [name], [f"r{name}"], name=f"relu_{name}") for name in "abc"]
    (first, one, two, last), weights = [node for node, _ in parts], [item for _, items in parts for item in items]
    total = helper.make_node("Add", ["d", "input"], ["output"], name="sum")
    return network([first, relus[0], one, relus[1], two, relus[2], last, total], weights, opset=opset)


def normalizing_network() -> ModelProto:
    """As residual_network, with an instance norm written out after ``one``: mean to shift are its nodes."""
    model = residual_network()
    axes = {"axes": [2, 3], "keepdims": 1}
    norm = [
        helper.make_node("ReduceMean", ["b"], ["mu"], name="mean", **axes),
        helper.make_node("Sub", ["b", "mu"], ["centred"], name="difference"),
        helper.make_node("Mul", ["centred", "centred"], ["squared"], name="square"),
        helper.make_node("ReduceMean", ["squared"], ["var"], name="variance", **axes),
        helper.make_node("Add", ["var", "eps"], ["safe"], name="safety"),
        helper.make_node("Sqrt", ["safe"], ["std"], name="root"),
        helper.make_node("Div", ["centred", "std"], ["unit"], name="quotient"),
        helper.make_node("Mul", ["unit", "gamma"], ["scaled"], name="scale"),
        helper.make_node("Add", ["scaled", "beta"], ["normed"], name="shift"),
    ]
    nodes = list(model.graph.node)
    relu = nodes.pop(3)
    assert relu.name == "relu_b"
    relu.input[0] = "normed"
    generator = np.random.default_rng(5)
    numbers = {
        "eps": np.full((1, 1, 1, 1), 1e-5, np.float32),
        "gamma": generator.uniform(0.5, 1, (1, CHANNELS, 1, 1)).astype(np.float32),
        "beta": generator.uniform(-0.2, 0.2, (1, CHANNELS, 1, 1)).astype(np.float32),
    }
    weights = [*model.graph.initializer, *(numpy_helper.from_array(value, name) for name, value in numbers.items())]
    return network([*nodes[:3], *norm, relu, *nodes[3:]], weights)


NORM = frozenset({"mean", "difference", "square", "variance", "safety", "root", "quotient", "scale", "shift"})


def resizing_network() -> ModelProto:
    """Half the side and back, by Resize nodes that take sizes; roi and scales are one shared empty tensor."""
    down, up = conv("first", "input", "a", into=3), conv("last", "wide", "d", out=3)
    weights = [*down[1], *up[1]]
    weights.append(numpy_helper.from_array(np.empty(0, np.float32), "nothing"))
    weights.append(numpy_helper.from_array(np.array([1, 1, 1, 1], np.int64), "ones"))
    weights.append(numpy_helper.from_array(np.array([1, 1, 2, 2], np.int64), "halves"))
    nodes = [
        down[0],
        helper.make_node("Shape", ["a"], ["shape"], name="shape"),
        helper.make_node("Div", ["shape", "halves"], ["small"], name="halve"),
        helper.make_node("Resize", ["a", "nothing", "nothing", "small"], ["narrow"], name="down", mode="nearest"),
        helper.make_node("Resize", ["narrow", "nothing", "nothing", "shape"], ["wide"], name="up", mode="nearest"),
        up[0],
        helper.make_node("Tanh", ["d"], ["output"], name="tanh"),
    ]
    return network(nodes, weights)


def padding_network() -> ModelProto:
    """As residual_network, with a Pad by reflection before ``one`` and ``two``."""
    model = residual_network()
    nodes = list(model.graph.node)
    weights = [*model.graph.initializer, numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), "rim")]
    for name in ("one", "two"):
        index = next(place for place, node in enumerate(nodes) if node.name == name)
        target = nodes[index]
        pad = helper.make_node("Pad", [target.input[0], "rim"], [f"{name}_padded"], name=f"pad_{name}", mode="reflect")
        target.input[0] = f"{name}_padded"
        del target.attribute[:]
        nodes.insert(index, pad)
    return network(nodes, weights)


def loud_network(loudness: float = 3e4) -> ModelProto:
    """As residual_network, but what comes out of ``one`` is scaled up by ``loudness``, and down again after it."""
    model = residual_network()
    nodes, weights = list(model.graph.node), list(model.graph.initializer)
    index = next(place for place, node in enumerate(nodes) if node.name == "two")
    for name, factor in (("up", loudness), ("down", 1 / loudness)):
        weights.append(numpy_helper.from_array(np.array(factor, np.float32), name))
    louder = helper.make_node("Mul", ["rb", "up"], ["loud"], name="louder")
    softer = helper.make_node("Mul", ["loud", "down"], ["soft"], name="softer")
    nodes[index].input[0] = "soft"
    return network([*nodes[:index], louder, softer, *nodes[index:]], weights)


def saved(model: ModelProto, path: Path) -> Path:
    """``path``, now the file of ``model``."""
    path.write_bytes(model.SerializeToString())
    return path


def photos(count: int = 2, side: int = 64) -> list[Photo]:
    """Pictures with edges and gradients, made from a seed."""
    return [Photo(f"photo {number}", _picture(number, side)) for number in range(count)]


def _picture(number: int, side: int) -> RgbImage:
    generator = np.random.default_rng(number)
    coarse = generator.integers(0, 256, (4, 4, 3)).astype(np.float32)
    smooth = np.kron(coarse, np.ones((side // 4, side // 4, 1), np.float32))
    ramp = np.linspace(-40, 40, side, dtype=np.float32)[:, np.newaxis, np.newaxis]
    return np.clip(smooth * 0.7 + 40 + ramp + generator.normal(0, 3, smooth.shape), 0, 255).astype(np.uint8)


def panel(card: ModelCard, path: Path, *, count: int = 2, side: int = 64) -> Panel:
    """A panel on made photos."""
    return Panel(card, path, photos(count, side), side=side, threads=1)
