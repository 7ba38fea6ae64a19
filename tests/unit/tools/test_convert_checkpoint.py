"""The command from a checkpoint to a file that ONNX Runtime takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="checkpoints are PyTorch's")

import onnx
import onnxruntime as ort
import torch
from onnx import numpy_helper

from app.config import PROJECT_ROOT
from tests.unit.tools.torch_makers import noise, tiny_lite, weights_in
from tools import convert_checkpoint
from tools.command import run_command
from tools.convert import pytorch
from tools.networks.families import FAMILIES


def convert(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Exit code of the command."""
    monkeypatch.setattr(sys, "argv", ["convert_checkpoint", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        run_command(convert_checkpoint.main)
    return int(str(ended.value.code))


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A training script's file, with a network so small that it takes no time."""
    path = tmp_path / "tiny.pt"
    torch.save({"generator": {f"module.{key}": value for key, value in tiny_lite().state_dict().items()}}, path)
    return path


def test_a_checkpoint_becomes_onnx_and_the_error_is_shown(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "tiny.onnx"
    assert convert(monkeypatch, checkpoint, "--out", out) == 0
    told = capsys.readouterr().out
    assert "Lite, 5,844 parameters, from generator > module." in told
    assert "opset 17, NCHW, batch x 3 x height x width" in told
    assert f"wrote {out}" in told
    picture = noise(3, 3, 24, 40)
    answer = ort.InferenceSession(str(out)).run(None, {"input": picture.numpy()})[0]
    np.testing.assert_allclose(answer, tiny_lite()(picture).detach().numpy(), atol=1e-5)
    assert list(out.parent.iterdir()) == [out]


def test_a_built_in_style_comes_back_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, out = PROJECT_ROOT / "models" / "lite_hayao.onnx", tmp_path / "hayao.onnx"
    state = {key: value for key, value in weights_in(shipped).items() if key.partition(".")[2]}
    torch.save(state, tmp_path / "hayao.pt")
    assert convert(monkeypatch, tmp_path / "hayao.pt", "--out", out, "--fixed", "64x96", "--batch", 1) == 0
    picture = {"input": noise(1, 3, 64, 96).numpy()}
    ours, theirs = (ort.InferenceSession(str(path)).run(None, picture)[0] for path in (out, shipped))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_size_batch_and_opset_are_as_asked(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "tiny.onnx"
    assert convert(monkeypatch, checkpoint, "--out", out, "--opset", 13, "--fixed", "64x32", "--batch", 2) == 0
    model = onnx.load(out)
    assert model.opset_import[0].version == 13
    assert [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim] == [2, 3, 64, 32]


def test_the_same_checkpoint_gives_the_same_bytes(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.onnx", "b.onnx"):
        convert(monkeypatch, checkpoint, "--out", tmp_path / name, "--fixed", "32x32")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_a_network_that_answers_otherwise_is_not_written(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    export = pytorch.export

    def damaging(network, path: Path, form) -> None:
        export(network, path, form)
        model = onnx.load(path)
        weight = next(tensor for tensor in model.graph.initializer if tensor.name == "u1.weight")
        weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) + 1, "u1.weight"))
        onnx.save(model, path)

    monkeypatch.setattr(pytorch, "export", damaging)
    out = tmp_path / "out" / "tiny.onnx"
    assert convert(monkeypatch, checkpoint, "--out", out) == 1
    told = capsys.readouterr()
    assert "too much" in told.out
    assert "The first layer that differs is u1 (node /u1/Conv)" in told.err
    assert list(out.parent.iterdir()) == []


REFUSED = {
    "opset 11": (["--opset", 11], "Opset 11 cannot be written: 12 to 18 can."),
    "a side that does not fit": (["--fixed", "100x64"], "Sides of Lite are multiples of 8, and 100 is not."),
    "no size": (["--fixed", "512"], "--fixed 512 is no size"),
    "no pictures": (["--batch", 0], "--batch 0 is no number of pictures."),
    "another family": (["--family", "animegan-v2"], "does not fit AnimeGANv2: it has no block_a.0.1.weight."),
}


@pytest.mark.parametrize(("options", "why"), REFUSED.values(), ids=REFUSED)
def test_options_that_do_not_work_out_end_in_a_sentence(
    options: list[object],
    why: str,
    checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out" / "tiny.onnx"
    assert convert(monkeypatch, checkpoint, "--out", out, *options) == 2
    told = capsys.readouterr().err
    assert why in told
    assert told.count("\n") == 1
    assert not out.exists()


def test_a_person_without_pytorch_is_told_what_to_install(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert convert(monkeypatch, checkpoint, "--out", tmp_path / "a.onnx") == 2
    assert "pip install -r requirements-tools.txt" in capsys.readouterr().err


def test_the_families_on_the_command_line_are_those_there_are() -> None:
    assert tuple(FAMILIES) == convert_checkpoint.FAMILY_NAMES


def test_the_command_explains_itself() -> None:
    command = [sys.executable, "-m", "tools.convert_checkpoint", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PROJECT_ROOT)
    assert "--fixed HxW" in done.stdout
