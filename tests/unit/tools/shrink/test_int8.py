"""INT8: how the file is made up, what stays FP32, and that photos are looked at once."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, numpy_helper

from app.inference.card import ModelCard
from tests.unit.tools.shrink.made_networks import (
    CHANNELS,
    NORM,
    normalizing_network,
    padding_network,
    panel,
    photos,
    residual_network,
    resizing_network,
    saved,
)
from tools.judge.bars import BAR_SETS
from tools.shrink.int8 import METHODS, Int8Options, Quantizer, deciding_nodes
from tools.shrink.panel import feeds
from tools.shrink.reader import Reader


def quantizer(model: ModelProto, card: ModelCard, work: Path, options: Int8Options | None = None) -> Quantizer:
    reader = Reader(card.input_name, feeds(card, [photo.rgb for photo in photos(4)]))
    return Quantizer(model, options or Int8Options(), work / "ranges.json", reader)


def eight_bit_nodes(path: Path) -> set[str]:
    """Names of the nodes that take a tensor which has been 8 bit."""
    graph = onnx.load(path).graph
    widened = {node.output[0] for node in graph.node if node.op_type == "DequantizeLinear"}
    moved = {"QuantizeLinear", "DequantizeLinear"}
    return {node.name for node in graph.node if node.op_type not in moved and not widened.isdisjoint(node.input)}


def test_inner_layers_turn_to_8_bit_and_outer_ones_stay(card: ModelCard, work: Path) -> None:
    made = quantizer(residual_network(), card, work)
    made.write(work / "int8.onnx", ())
    assert made.nodes == ["one", "two"]
    nodes = eight_bit_nodes(work / "int8.onnx")
    assert {"one", "two"} <= nodes
    # The sum of picture and answer too: to turn it to 8 bit would round both.
    assert nodes.isdisjoint({"first", "sum"})
    stored = {weights.name for weights in onnx.load(work / "int8.onnx").graph.initializer}
    assert {"first.weight", "last.weight"} <= stored
    assert stored.isdisjoint({"one.weight", "two.weight"})


def test_normalisation_stays_fp32(card: ModelCard, work: Path) -> None:
    model = normalizing_network()
    assert set(deciding_nodes(model)) == {"one", "two"}
    quantizer(model, card, work).write(work / "int8.onnx", ())
    nodes = {node.name: node for node in onnx.load(work / "int8.onnx").graph.node}
    assert set(nodes) >= NORM
    # Only the norm's entry, the answer of a layer in 8 bit, may have been 8 bit.
    assert eight_bit_nodes(work / "int8.onnx") & NORM <= {"mean", "difference"}


def test_weights_are_symmetric_and_have_a_scale_per_channel(card: ModelCard, work: Path) -> None:
    quantizer(residual_network(), card, work, Int8Options(weight_bits=8)).write(work / "int8.onnx", ())
    tensors = {item.name: numpy_helper.to_array(item) for item in onnx.load(work / "int8.onnx").graph.initializer}
    scales, zeros, weights = (tensors[f"one.weight_{part}"] for part in ("scale", "zero_point", "quantized"))
    assert scales.shape == (CHANNELS,)
    assert scales.max() > 3 * scales.min()
    assert not zeros.any()
    assert weights.dtype == np.int8
    assert np.abs(weights).max() == 127


def test_seven_bits_leave_room_for_sums_that_saturate(card: ModelCard, work: Path) -> None:
    quantizer(residual_network(), card, work).write(work / "int8.onnx", ())
    (weights,) = [
        numpy_helper.to_array(item)
        for item in onnx.load(work / "int8.onnx").graph.initializer
        if item.name == "one.weight_quantized"
    ]
    assert np.abs(weights).max() <= 64


@pytest.mark.parametrize("method", METHODS)
def test_every_way_of_calibration_keeps_the_picture(method, card: ModelCard, work: Path) -> None:
    model = residual_network()
    quantizer(model, card, work, Int8Options(method)).write(work / "int8.onnx", ())
    verdict = panel(card, saved(model, work / "full.onnx")).judge(work / "int8.onnx", BAR_SETS["int8"])
    assert verdict.mean["ssim"] > 0.97, verdict.faults
    assert verdict.mean["psnr"] > 30, verdict.faults


def test_signed_activations_are_centred(card: ModelCard, work: Path) -> None:
    quantizer(residual_network(), card, work, Int8Options(activations="int8")).write(work / "int8.onnx", ())
    zeros = [
        numpy_helper.to_array(item)
        for item in onnx.load(work / "int8.onnx").graph.initializer
        if item.name.endswith("zero_point") and item.data_type in (TensorProto.INT8, TensorProto.UINT8)
    ]
    assert zeros
    assert all(zero.dtype == np.int8 and not zero.any() for zero in zeros)


def test_nodes_can_be_left_in_fp32(card: ModelCard, work: Path) -> None:
    quantizer(residual_network(), card, work).write(work / "int8.onnx", ["two"])
    nodes = eight_bit_nodes(work / "int8.onnx")
    assert "one" in nodes
    assert "two.weight" in {weights.name for weights in onnx.load(work / "int8.onnx").graph.initializer}


@pytest.mark.parametrize("made", [residual_network, normalizing_network, padding_network, resizing_network])
def test_with_every_node_in_fp32_nothing_is_in_8_bit(made, card: ModelCard, work: Path) -> None:
    """A node that turned to 8 bit unasked would spoil the damage measured of each of the others."""
    model = made()
    quantizer(model, card, work).write(work / "int8.onnx", deciding_nodes(model))
    assert eight_bit_nodes(work / "int8.onnx") == set()


def test_a_pad_follows_the_layer_behind_it(card: ModelCard, work: Path) -> None:
    quantizer(padding_network(), card, work).write(work / "int8.onnx", ["one"])
    nodes = eight_bit_nodes(work / "int8.onnx")
    assert "pad_two" in nodes
    assert "pad_one" not in nodes


def test_photos_are_looked_at_once(card: ModelCard, work: Path) -> None:
    quantizer(residual_network(), card, work).write(work / "first.onnx", ())
    without_photos = Quantizer(residual_network(), Int8Options(), work / "ranges.json", Reader(card.input_name, []))
    without_photos.write(work / "again.onnx", ())
    assert (work / "again.onnx").read_bytes() == (work / "first.onnx").read_bytes()


def test_the_network_that_is_given_is_left_as_it_is(card: ModelCard, work: Path) -> None:
    model = residual_network()
    before = model.SerializeToString()
    quantizer(model, card, work).write(work / "int8.onnx", ())
    assert model.SerializeToString() == before


def test_calibration_says_nothing(card: ModelCard, work: Path, capsys: pytest.CaptureFixture[str], caplog) -> None:
    quantizer(residual_network(), card, work).write(work / "int8.onnx", ())
    assert capsys.readouterr() == ("", "")
    assert not caplog.records
