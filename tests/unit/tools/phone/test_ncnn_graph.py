"""Each rewriting for ncnn leaves the numbers as they were."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the workshop's packages are not installed")

from onnx import helper

from tests.unit.tools.phone.cards import card
from tests.unit.tools.phone.networks import network, noise, run
from tools.phone.ncnn_graph import ncnn_network

SIZE = (8, 6)


def operators(model) -> list[str]:
    return [node.op_type for node in model.graph.node]


def rewritten(model):
    """``model`` for ncnn, after a look that it answers as before."""
    result = ncnn_network(model, card(), SIZE)
    tensor = noise(1, 3, 6, 8)
    onnx.checker.check_model(result)
    np.testing.assert_allclose(run(result, tensor), run(model, tensor), atol=1e-6)
    return result


def resize(mode: str, coordinates: str, factor: float):
    scales = np.array([1, 1, factor, factor], np.float32)
    node = helper.make_node(
        "Resize", ["input", "", "scales"], ["output"], mode=mode, coordinate_transformation_mode=coordinates
    )
    answer = [1, 3, int(6 * factor), int(8 * factor)]
    return network([node], {"scales": scales}, [1, 3, 6, 8], answer=answer)


def test_tensorflows_doubling_becomes_a_convolution() -> None:
    assert operators(rewritten(resize("linear", "asymmetric", 2))) == ["Pad", "Conv", "DepthToSpace"]


@pytest.mark.parametrize(
    ("mode", "coordinates", "factor"),
    [("linear", "half_pixel", 2), ("nearest", "asymmetric", 2), ("linear", "asymmetric", 3)],
)
def test_other_ways_to_resize_stay(mode: str, coordinates: str, factor: float) -> None:
    assert operators(rewritten(resize(mode, coordinates, factor))) == ["Resize"]


@pytest.mark.parametrize("axes", [[1], [2, 3], [-1]])
@pytest.mark.parametrize("keep", [0, 1])
def test_a_sum_becomes_a_mean_times_its_count(axes: list[int], keep: int) -> None:
    nodes = [helper.make_node("ReduceSum", ["input", "axes"], ["output"], keepdims=keep)]
    shape = np.zeros((1, 3, 6, 8)).sum(axis=tuple(axes), keepdims=bool(keep)).shape
    model = network(nodes, {"axes": np.array(axes, np.int64)}, [1, 3, 6, 8], answer=list(shape))
    assert operators(rewritten(model)) == ["ReduceMean", "Mul"]


def test_reshapes_in_a_row_become_one() -> None:
    nodes = [
        helper.make_node("Unsqueeze", ["input", "zero"], ["a"]),
        helper.make_node("Reshape", ["a", "first"], ["b"]),
        helper.make_node("Reshape", ["b", "second"], ["c"]),
        helper.make_node("Transpose", ["c"], ["d"], perm=[0, 1, 3, 5, 2, 4]),
        helper.make_node("Reshape", ["d", "third"], ["e"]),
        helper.make_node("Squeeze", ["e", "zero"], ["output"]),
    ]
    shapes = {"zero": [0], "first": [1, 3, 6, 8], "second": [1, 3, 3, 2, 4, 2], "third": [1, 1, 12, 3, 4]}
    constants = {name: np.array(values, np.int64) for name, values in shapes.items()}
    model = network(nodes, constants, [1, 3, 6, 8], answer=[1, 12, 3, 4])
    assert operators(rewritten(model)) == ["Reshape", "Transpose", "Reshape"]


def test_a_tensor_reshaped_for_two_keeps_both() -> None:
    nodes = [
        helper.make_node("Flatten", ["input"], ["flat"]),
        helper.make_node("Reshape", ["flat", "shape"], ["back"]),
        helper.make_node("ReduceMean", ["flat"], ["mean"], axes=[1], keepdims=1),
        helper.make_node("Add", ["back", "mean"], ["output"]),
    ]
    model = network(nodes, {"shape": np.array([1, 3, 6, 8], np.int64)}, [1, 3, 6, 8])
    assert operators(rewritten(model)) == ["Reshape", "Reshape", "ReduceMean", "Add"]


def test_channels_that_come_last_come_first_for_ncnn() -> None:
    weights = np.random.default_rng(0).normal(size=(3, 3, 1, 1)).astype(np.float32)
    nodes = [
        helper.make_node("Transpose", ["input"], ["a"], perm=[0, 3, 1, 2]),
        helper.make_node("Conv", ["a", "weights"], ["b"], kernel_shape=[1, 1]),
        helper.make_node("Transpose", ["b"], ["output"], perm=[0, 2, 3, 1]),
    ]
    model = network(nodes, {"weights": weights}, [1, 6, 8, 3])
    result = ncnn_network(model, card(layout="NHWC"), SIZE)
    tensor = noise(1, 3, 6, 8)
    assert operators(result) == ["Conv"]
    np.testing.assert_allclose(
        run(result, tensor), run(model, tensor.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2), atol=1e-6
    )
