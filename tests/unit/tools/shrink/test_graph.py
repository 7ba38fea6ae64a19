"""What the workshop reads off a graph: outer layers, normalisation, names, order."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.unit.tools.shrink.made_networks import NORM, network, normalizing_network, residual_network, resizing_network
from tools.shrink.graph import (
    in_order,
    normalizing_nodes,
    outer_nodes,
    with_names,
    without_empty_inputs,
    without_notes,
)


def test_the_first_and_the_last_layer_are_found() -> None:
    assert outer_nodes(residual_network()) == {"first", "last", "sum"}


def test_every_layer_that_meets_the_picture_or_the_answer_is_an_outer_one() -> None:
    """Two branches from the picture, joined by a sum: both their layers are first and last."""
    model = residual_network()
    branch = helper.make_node("Conv", ["input", "side.weight"], ["side"], name="side", pads=[1, 1, 1, 1])
    nodes = [*model.graph.node[:-1], branch, helper.make_node("Add", ["d", "side"], ["output"], name="sum")]
    weight = numpy_helper.from_array(np.zeros((3, 3, 3, 3), np.float32), "side.weight")
    assert outer_nodes(network(nodes, [*model.graph.initializer, weight])) == {"first", "last", "side", "sum"}


def test_all_nodes_of_a_written_out_norm_are_found_and_no_others() -> None:
    assert normalizing_nodes(normalizing_network()) == NORM


def test_a_network_without_normalisation_has_none() -> None:
    assert normalizing_nodes(residual_network()) == frozenset()


def test_one_normalising_operator_takes_its_scale_and_shift_along() -> None:
    model = residual_network()
    nodes = list(model.graph.node)
    relu = nodes.pop(3)
    relu.input[0] = "normed"
    ones, zeros = (np.full(8, value, np.float32) for value in (1, 0))
    norm = [
        helper.make_node("InstanceNormalization", ["b", "ones", "zeros"], ["unit"], name="norm"),
        helper.make_node("Mul", ["unit", "factor"], ["normed"], name="factor"),
    ]
    values = {"ones": ones, "zeros": zeros, "factor": np.float32(0.5)}
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]
    changed = network([*nodes[:3], *norm, relu, *nodes[3:]], [*model.graph.initializer, *weights])
    assert normalizing_nodes(changed) == {"norm", "factor"}


def test_nodes_without_a_name_and_with_the_same_one_get_their_own() -> None:
    model = residual_network()
    for node in model.graph.node:
        node.name = "same" if node.op_type == "Relu" else ""
    names = [node.name for node in with_names(model).graph.node]
    assert len(set(names)) == len(names)
    assert "" not in names
    assert [node.name for node in model.graph.node].count("same") == 3


def test_names_that_are_fine_are_kept() -> None:
    model = residual_network()
    assert with_names(model).SerializeToString() == model.SerializeToString()


def test_nodes_are_put_in_the_order_of_what_they_need() -> None:
    model = residual_network()
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(model)
    onnx.checker.check_model(in_order(model))


def test_a_graph_that_runs_in_a_circle_has_no_order() -> None:
    model = residual_network()
    model.graph.node[0].input[0] = "output"
    with pytest.raises(ValueError, match="circle"):
        in_order(model)


def test_an_empty_tensor_of_scales_becomes_a_missing_input() -> None:
    resizes = [node for node in without_empty_inputs(resizing_network()).graph.node if node.op_type == "Resize"]
    assert [list(node.input)[1:] for node in resizes] == [["", "", "small"], ["", "", "shape"]]


def test_notes_go_and_the_network_stays() -> None:
    model = onnx.shape_inference.infer_shapes(residual_network())
    model.doc_string = model.graph.node[0].doc_string = "from my machine"
    bare = without_notes(model)
    assert b"from my machine" not in bare.SerializeToString()
    assert not bare.graph.value_info
    assert [node.name for node in bare.graph.node] == [node.name for node in model.graph.node]
