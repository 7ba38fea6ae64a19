"""Dynamic quantisation, ONNX Runtime's own format, and what is no network to start from."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

from pathlib import Path

import numpy as np
import onnx

from app.inference.card import ModelCard
from app.inference.session import OrtSession
from tests.unit.tools.shrink.made_networks import panel, photos, residual_network, saved
from tools.command import ToolError
from tools.judge.bars import BAR_SETS
from tools.shrink.dynamic import write_dynamic
from tools.shrink.files import read_full_precision, read_model
from tools.shrink.half import half_weights
from tools.shrink.ort_format import write_ort
from tools.shrink.panel import feeds


def test_dynamic_quantisation_draws_the_picture_with_inner_layers_in_8_bit(card: ModelCard, work: Path) -> None:
    model = residual_network()
    write_dynamic(model, work / "dynamic.onnx")
    kinds = [node.op_type for node in onnx.load(work / "dynamic.onnx").graph.node]
    assert kinds.count("ConvInteger") == 2
    assert kinds.count("Conv") == 2
    verdict = panel(card, saved(model, work / "a.onnx")).judge(work / "dynamic.onnx", BAR_SETS["int8"])
    assert verdict.mean["psnr"] > 30, verdict.faults
    assert sorted(path.name for path in work.iterdir()) == ["a.onnx", "dynamic.onnx"]


@pytest.mark.parametrize("portable", [True, False])
def test_the_service_runs_files_of_onnx_runtimes_own_format(portable: bool, card: ModelCard, work: Path) -> None:
    source = saved(residual_network(), work / "a.onnx")
    write_ort(source, work / "a.ort", portable=portable)
    (tensor,) = feeds(card, [photos(1)[0].rgb])
    wanted, drawn = (OrtSession(work / name, card, threads=1).run(tensor) for name in ("a.onnx", "a.ort"))
    np.testing.assert_allclose(drawn, wanted, atol=1e-5)


def test_the_optimised_graph_is_what_is_saved(card: ModelCard, work: Path) -> None:
    """Optimised, a convolution and its ReLU are one node: no name of a ReLU is left."""
    source = saved(residual_network(), work / "a.onnx")
    write_ort(source, work / "a.ort")
    assert b"relu_a" in source.read_bytes()
    assert b"relu_a" not in (work / "a.ort").read_bytes()
    assert b"FusedConv" in (work / "a.ort").read_bytes()


def test_what_cannot_be_loaded_becomes_no_file(work: Path) -> None:
    (work / "a.onnx").write_bytes(b"\x08\x08nothing")
    with pytest.raises(ToolError, match=r"cannot turn a\.onnx"):
        write_ort(work / "a.onnx", work / "a.ort")
    assert not (work / "a.ort").exists()


@pytest.mark.parametrize("content", [b"hello, I am text", b"\x00" * 100, residual_network().SerializeToString()[:-50]])
def test_what_is_no_whole_network_is_refused(content: bytes, work: Path) -> None:
    (work / "a.onnx").write_bytes(content)
    with pytest.raises(ToolError, match="is no whole ONNX network"):
        read_model(work / "a.onnx")


def test_a_network_made_smaller_before_is_no_start(work: Path) -> None:
    with pytest.raises(ToolError, match="in FP16 already: start from the FP32 network"):
        read_full_precision(saved(half_weights(residual_network()), work / "a.onnx"))
    with pytest.raises(ToolError, match="in INT8 already"):
        read_full_precision(Path("models/lite_hayao_int8.onnx"))
    assert read_full_precision(Path("models/lite_hayao.onnx")).graph.node
