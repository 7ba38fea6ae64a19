"""FP16: half the size, float32 in and out, the same picture; and what must stay FP32 does."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, numpy_helper

from app.inference.card import ModelCard
from app.inference.session import OrtSession
from app.types import Tensor
from tests.unit.tools.shrink.made_networks import (
    NORM,
    loud_network,
    network,
    normalizing_network,
    panel,
    photos,
    residual_network,
    resizing_network,
    saved,
)
from tools.judge.bars import BAR_SETS
from tools.shrink.files import write_model
from tools.shrink.half import half, half_weights, kept_full, rounded
from tools.shrink.panel import feeds
from tools.shrink.ranges import tensor_ranges


def answer(model: ModelProto, card: ModelCard, work: Path) -> Tensor:
    path = work / "run.onnx"
    write_model(model, path)
    return OrtSession(path, card, threads=1).run(feeds(card, [photos()[0].rgb])[0])


def types(model: ModelProto) -> list[int]:
    return [item.type.tensor_type.elem_type for item in (*model.graph.input, *model.graph.output)]


def weight_bytes(model: ModelProto) -> int:
    return sum(len(weights.raw_data) for weights in model.graph.initializer)


@pytest.mark.parametrize("made", [residual_network, normalizing_network, resizing_network])
@pytest.mark.parametrize("way", ["weights", "full"])
def test_half_precision_draws_the_same_picture(made, way: str, card: ModelCard, work: Path) -> None:
    model = made()
    smaller = half_weights(model) if way == "weights" else half(model, kept_full(model, {}))
    write_model(smaller, work / "half.onnx")
    verdict = panel(card, saved(model, work / "full.onnx")).judge(work / "half.onnx", BAR_SETS["fp16"])
    assert verdict.passed, verdict.faults
    assert types(smaller) == [TensorProto.FLOAT, TensorProto.FLOAT]


def test_weights_take_half_the_room(card: ModelCard, work: Path) -> None:
    model = residual_network()
    assert weight_bytes(half_weights(model)) < 0.52 * weight_bytes(model)
    assert weight_bytes(half(model, ())) == weight_bytes(model) / 2


def test_weights_alone_change_the_answer_by_their_rounding_alone(card: ModelCard, work: Path) -> None:
    model = residual_network()
    by_hand = residual_network()
    for weights in by_hand.graph.initializer:
        values = numpy_helper.to_array(weights)
        if values.size >= 64:
            weights.CopyFrom(numpy_helper.from_array(values.astype(np.float16).astype(np.float32), weights.name))
    np.testing.assert_array_equal(answer(half_weights(model), card, work), answer(by_hand, card, work))


def test_weights_beyond_half_precision_stay(card: ModelCard, work: Path) -> None:
    model = residual_network()
    wide = next(weights for weights in model.graph.initializer if weights.name == "one.weight")
    values = numpy_helper.to_array(wide).copy()
    values[0, 0, 0, 0] = 7e4
    wide.CopyFrom(numpy_helper.from_array(values, wide.name))
    kinds = {weights.name: weights.data_type for weights in half_weights(model).graph.initializer}
    assert kinds["one.weight"] == TensorProto.FLOAT
    assert kinds["two.weight_fp16"] == TensorProto.FLOAT16


def test_normalisation_stays_full() -> None:
    assert kept_full(normalizing_network(), {}) == NORM
    kept = half(normalizing_network(), NORM)
    (gamma,) = [weights for weights in kept.graph.initializer if weights.name == "gamma"]
    assert gamma.data_type == TensorProto.FLOAT


def test_nodes_near_the_largest_number_of_half_precision_stay_full(card: ModelCard) -> None:
    model = loud_network()
    ranges = tensor_ranges(model, card.input_name, feeds(card, [photo.rgb for photo in photos()]))
    assert ranges["loud"][1] > 1e4
    assert kept_full(model, ranges) == {"louder", "softer"}
    assert kept_full(residual_network(), ranges) == frozenset()


def test_the_twin_shows_the_overflow_that_casts_hide(card: ModelCard, work: Path) -> None:
    """An x86 processor runs the file in float32 behind the scenes; a chip with real half precision would not."""
    model = loud_network(3e6)
    twin = answer(rounded(model, ()), card, work)
    assert not np.isfinite(twin).all()
    np.testing.assert_allclose(
        answer(rounded(model, {"louder", "softer"}), card, work), answer(model, card, work), atol=0.01
    )


def test_the_twin_rounds_every_number_between_half_nodes(card: ModelCard, work: Path) -> None:
    model = residual_network()
    twin = rounded(model, ())
    exact, coarse = answer(model, card, work), answer(twin, card, work)
    difference = np.abs(exact - coarse).max()
    assert 1e-5 < difference < 5e-3
    casts = [node for node in twin.graph.node if node.op_type == "Cast"]
    # Each of the 8 tensors that nodes pass on, and the 8 of weights, goes down and up again.
    assert len(casts) == 2 * (8 + 8)


def test_what_a_half_node_hands_to_a_full_one_is_rounded_too() -> None:
    model = residual_network()
    twin = rounded(model, {node.name for node in model.graph.node} - {"one"})
    narrowed = {
        node.input[0] for node in twin.graph.node if node.op_type == "Cast" and node.output[0].endswith("_narrow")
    }
    assert narrowed == {"ra", "one.weight", "one.bias", "b"}


def test_with_every_node_kept_the_twin_is_the_network(card: ModelCard, work: Path) -> None:
    model = residual_network()
    twin = rounded(model, {node.name for node in model.graph.node})
    np.testing.assert_array_equal(answer(twin, card, work), answer(model, card, work))


def test_resize_stays_full_where_its_operator_cannot_lack_scales() -> None:
    model = resizing_network()
    old = network(list(model.graph.node), list(model.graph.initializer), opset=12)
    assert kept_full(old, {}) == {"down", "up"}
    assert kept_full(model, {}) == frozenset()


def test_what_comes_out_is_a_valid_network() -> None:
    for made in (residual_network, normalizing_network, resizing_network, loud_network):
        onnx.checker.check_model(half(made(), ()), full_check=True)
        onnx.checker.check_model(half_weights(made()), full_check=True)
