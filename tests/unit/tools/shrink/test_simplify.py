"""Simplifying: fewer nodes, the same answers; or the original."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from app.inference.card import ModelCard
from tests.unit.tools.shrink.made_networks import network, panel, residual_network, resizing_network, saved
from tools.shrink.graph import count_operators
from tools.shrink.simplify import SAME, largest_difference, simplified


def roundabout_network() -> onnx.ModelProto:
    """residual_network with an Identity, a constant that is reckoned anew each time, and an empty step."""
    model = residual_network()
    nodes, weights = list(model.graph.node), list(model.graph.initializer)
    nodes[-1].input[0] = "shifted"
    zero = [helper.make_node("Sub", ["one.bias", "one.bias"], ["zeros"], name="zeros")]
    more = [
        helper.make_node("ReduceSum", ["zeros", "axis"], ["zero"], name="zero", keepdims=0),
        helper.make_node("Identity", ["d"], ["same"], name="identity"),
        helper.make_node("Add", ["same", "zero"], ["shifted"], name="nothing"),
    ]
    weights.append(numpy_helper.from_array(np.array([0], np.int64), "axis"))
    return network([*zero, *nodes[:-1], *more, nodes[-1]], weights)


@pytest.mark.parametrize("made", [residual_network, roundabout_network, resizing_network])
def test_a_simplified_network_answers_as_before_at_every_size(made, card: ModelCard, work: Path) -> None:
    pytest.importorskip("onnxslim", reason="model tools are not installed")
    model = made()
    smaller = simplified(model)
    original = panel(card, saved(model, work / "a.onnx"))
    paths = original.reference, saved(smaller, work / "b.onnx")
    assert len({tensor.shape for tensor in original.proofs}) == 2
    assert largest_difference(*paths, card, original.proofs, threads=1) <= SAME


def test_what_does_nothing_is_taken_out() -> None:
    pytest.importorskip("onnxslim", reason="model tools are not installed")
    model = roundabout_network()
    assert count_operators(simplified(model)) <= count_operators(model) - 3
    assert count_operators(residual_network()) == count_operators(simplified(residual_network()))


def test_sides_stay_free() -> None:
    pytest.importorskip("onnxslim", reason="model tools are not installed")
    (port,) = simplified(residual_network()).graph.input
    assert [side.dim_param for side in port.type.tensor_type.shape.dim][2:] == ["height", "width"]


def test_the_difference_is_that_of_the_worst_number(card: ModelCard, work: Path) -> None:
    model, changed = residual_network(), residual_network()
    bias = next(weights for weights in changed.graph.initializer if weights.name == "last.bias")
    values = numpy_helper.to_array(bias).copy()
    values[1] += 0.25
    bias.CopyFrom(numpy_helper.from_array(values, bias.name))
    tensors = panel(card, saved(model, work / "a.onnx")).proofs
    gap = largest_difference(work / "a.onnx", saved(changed, work / "b.onnx"), card, tensors, threads=1)
    assert gap == pytest.approx(0.25, abs=1e-6)


def test_an_answer_that_is_no_number_is_no_small_difference(card: ModelCard, work: Path) -> None:
    model, broken = residual_network(), residual_network()
    bias = next(weights for weights in broken.graph.initializer if weights.name == "last.bias")
    bias.CopyFrom(numpy_helper.from_array(np.full(3, np.nan, np.float32), bias.name))
    tensors = panel(card, saved(model, work / "a.onnx")).proofs
    assert not largest_difference(work / "a.onnx", saved(broken, work / "b.onnx"), card, tensors, 1) <= SAME
