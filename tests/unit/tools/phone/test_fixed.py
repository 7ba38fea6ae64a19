"""The network for one size is the same network, with nothing left to be found out."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the workshop's packages are not installed")

from tests.unit.tools.phone.cards import MODELS, card
from tests.unit.tools.phone.networks import noise, run
from tools.command import ToolError
from tools.phone.fixed import STANDARD_DOMAINS, fixed_network, read_network, tensor_shape


def port_shape(port) -> list[int]:
    return [axis.dim_value for axis in port.type.tensor_type.shape.dim]


@pytest.mark.parametrize("name", ["lite_hayao.onnx", "lite_hayao_fp16.onnx", "lite_hayao_int8.onnx"])
def test_a_network_of_fixed_size_gives_the_same_answer(name: str) -> None:
    model = read_network(MODELS / name)
    fixed = fixed_network(model, card(), (48, 32))
    tensor = noise(1, 3, 32, 48)
    assert port_shape(fixed.graph.input[0]) == port_shape(fixed.graph.output[0]) == [1, 3, 32, 48]
    assert np.abs(run(fixed, tensor) - run(model, tensor)).max() < 1e-5


def test_nothing_is_left_to_be_worked_out_at_run_time() -> None:
    fixed = fixed_network(read_network(MODELS / "lite_hayao.onnx"), card(), (32, 32))
    assert {"Constant", "Shape", "Gather"}.isdisjoint(node.op_type for node in fixed.graph.node)
    assert all(node.domain in STANDARD_DOMAINS for node in fixed.graph.node)
    assert [entry.domain for entry in fixed.opset_import] == [""]


def test_weights_in_half_precision_stay_so() -> None:
    whole, halved = (
        fixed_network(read_network(MODELS / name), card(), (32, 32))
        for name in ("lite_hayao.onnx", "lite_hayao_fp16.onnx")
    )
    assert halved.ByteSize() < 0.55 * whole.ByteSize()
    assert [port.name for port in halved.graph.input] == ["input"]


def test_the_network_it_is_made_from_stays_as_it_was() -> None:
    model = read_network(MODELS / "lite_hayao.onnx")
    before = model.SerializeToString()
    fixed_network(model, card(), (32, 32))
    assert model.SerializeToString() == before


def test_the_shape_follows_the_layout() -> None:
    assert tensor_shape(card(), (48, 32)) == (1, 3, 32, 48)
    assert tensor_shape(card(layout="NHWC"), (48, 32)) == (1, 32, 48, 3)


@pytest.mark.parametrize("content", [b"no network", b"\x08"], ids=["text", "nothing in it"])
def test_a_file_that_is_no_onnx_network_is_refused(tmp_path, content: bytes) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(content)
    with pytest.raises(ToolError, match="is no ONNX file"):
        read_network(path)


def test_a_size_that_onnx_runtime_refuses_is_told() -> None:
    with pytest.raises(ToolError, match="cannot build the network for this size"):
        fixed_network(read_network(MODELS / "lite_hayao.onnx"), card(), (33, 33))
