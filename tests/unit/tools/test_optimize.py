"""``python -m tools.optimize``: what it writes, what it refuses, and that nothing half-made stays."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

import numpy as np
import onnx

from app.config import PROJECT_ROOT
from app.errors import ModelError
from tests.unit.tools.shrink.made_networks import residual_network, resizing_network, saved
from tools.command import ToolError
from tools.optimize import main
from tools.shrink import command, simplify, workshop

SAMPLES = PROJECT_ROOT / "static" / "samples"
REFERENCE = PROJECT_ROOT.parent / "shared" / "models" / "reference"

QUICK = ("--photos", str(SAMPLES), "--size", "96", "--rounds", "1", "--threads", "1", "--like", "hayao")


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """The file of a small network."""
    return saved(residual_network(), tmp_path / "small.onnx")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where files go; not there yet."""
    return tmp_path / "out"


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simplifying by a stand-in that changes nothing, so that the rest is tested where onnxslim is not installed."""
    monkeypatch.setattr(command, "Workshop", partial(workshop.Workshop, simplify=lambda model: model))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("plain")
def test_everything_is_made_judged_and_told(network: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = ",".join(workshop.SUFFIXES)
    assert main([str(network), "--out", str(out), "--make", kinds, "--bars", "ssim=0.9", *QUICK]) == 0
    files = [f"small{suffix}" for suffix in workshop.SUFFIXES.values()]
    assert names(out) == sorted([*files, "small_optimize.json", "small_search"])
    told = capsys.readouterr().out
    rows = [line.split(" | ")[0].removeprefix("| ") for line in told.splitlines() if line.startswith("| small")]
    assert rows == ["small.onnx", *files]
    assert "| nodes in FP32 | SSIM | banding | ms | time / FP32 | bars missed |" in told
    content = json.loads((out / "small_optimize.json").read_text(encoding="utf-8"))
    assert [file["kind"] for file in content["files"]] == list(workshop.SUFFIXES)
    assert all(file["bytes"] == (out / file["file"]).stat().st_size for file in content["files"])
    assert content["refused"] == {}
    assert content["curve"][0]["fp32"] == 0
    assert [way["method"] for way in content["circumstances"]["int8"]] == ["percentile", "percentile", "min-max"]


@pytest.mark.usefixtures("plain")
def test_bars_that_nothing_in_8_bit_meets_make_no_file(network: Path, out: Path, capsys) -> None:
    options = ["--make", "fp16-weights,int8,int8-ort", "--bars", "psnr=200"]
    assert main([str(network), "--out", str(out), *options, *QUICK]) == 1
    told = capsys.readouterr().out
    assert "small_int8.onnx is not made: the bars are met only with no node in 8 bit" in told
    assert "small_int8.ort is not made: there is no INT8 file to make it from" in told
    assert names(out) == ["small_fp16_weights.onnx", "small_optimize.json", "small_search"]


@pytest.mark.usefixtures("plain")
def test_what_loses_too_much_is_refused_with_the_reason(
    network: Path, out: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(workshop.BAR_SETS, "fp16", (workshop.Bar("ssim", "mean", 1.5),))
    assert main([str(network), "--out", str(out), "--make", "fp16-weights,fp16,ort", *QUICK]) == 1
    assert names(out) == ["small.ort", "small_optimize.json"]
    told = capsys.readouterr().out
    assert "- small_fp16_weights.onnx is not made: it loses too much: mean ssim >= 1.5 (is 1)." in told
    assert "- small_fp16.onnx is not made: where numbers really have half precision it loses too much" in told
    content = json.loads((out / "small_optimize.json").read_text(encoding="utf-8"))
    assert set(content["refused"]) == {"small_fp16_weights.onnx", "small_fp16.onnx"}


def test_a_simplified_network_that_answers_otherwise_is_dropped(
    network: Path, out: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoiled(model: onnx.ModelProto) -> onnx.ModelProto:
        changed = residual_network()
        bias = next(weights for weights in changed.graph.initializer if weights.name == "last.bias")
        bias.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(bias) + np.float32(1e-4), bias.name))
        return changed

    monkeypatch.setattr(command, "Workshop", partial(workshop.Workshop, simplify=spoiled))
    assert main([str(network), "--out", str(out), "--make", "simplified,fp16-weights", *QUICK]) == 1
    told = capsys.readouterr()
    assert "small_simplified.onnx is not made: the answers differ by" in told.out
    assert "the original is kept for everything else" in told.out
    assert "not simplified: the answers differ by" in told.err
    # Made from the original, so it answers as that.
    assert "| small_fp16_weights.onnx |" in told.out


def test_the_simplifier_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxslim", None)
    with pytest.raises(ValueError, match=r"onnxslim is not installed \(pip install"):
        simplify.simplified(residual_network())


@pytest.mark.usefixtures("plain")
def test_a_search_stopped_by_its_time_goes_on_when_asked_again(
    network: Path, out: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [str(network), "--out", str(out), "--make", "int8", "--bars", "psnr=59.1", *QUICK]
    with monkeypatch.context() as patch:
        patch.setattr("tools.shrink.search.Budget.check", _Stop(after=2))
        assert main(options) == 1
    told = capsys.readouterr().out
    assert "small_int8.onnx is not made: the search is not done after 300 s (1 of 2 nodes and 1 networks" in told
    assert names(out) == ["small_optimize.json", "small_search"]
    assert main(options) == 0
    assert "small_int8.onnx" in names(out)


class _Stop:
    """In the place of a budget's check: lets ``after`` of them pass."""

    def __init__(self, after: int) -> None:
        self._left = after

    def __call__(self, *_: object) -> None:
        from tools.shrink.search import OutOfTime

        self._left -= 1
        if self._left < 0:
            raise OutOfTime


def test_files_that_are_no_start_end_in_one_sentence(tmp_path: Path, out: Path) -> None:
    cases = {
        "text.onnx": b"hello",
        "short.onnx": residual_network().SerializeToString()[:-200],
        "empty.onnx": b"",
    }
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises((ToolError, ModelError)):
            main([str(tmp_path / name), "--out", str(out), *QUICK])
    with pytest.raises(ToolError, match="neither a file nor a style"):
        main([str(tmp_path / "missing.onnx"), "--out", str(out), *QUICK])
    with pytest.raises(ToolError, match="in INT8 already"):
        main(["hayao:int8", "--out", str(out), *QUICK])
    assert not out.exists()


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("--make", "fp8", "none of simplified"),
        ("--percentile", "3", "above 50"),
        ("--size", "8", "at least 64"),
        ("--method", "guess", "invalid choice"),
    ],
)
def test_wrong_options_are_told(option: str, value: str, why: str, network: Path, out: Path, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(network), "--out", str(out), option, value])
    assert ended.value.code == 2
    assert why in capsys.readouterr().err


@pytest.mark.usefixtures("plain")
def test_a_network_with_resize_goes_through(tmp_path: Path, out: Path) -> None:
    network = saved(resizing_network(), tmp_path / "resize.onnx")
    assert main([str(network), "--out", str(out), "--make", "fp16-weights,fp16,ort", *QUICK]) == 0


@pytest.mark.usefixtures("plain")
def test_a_network_of_outer_layers_alone_gets_no_file_in_8_bit(tmp_path: Path, out: Path, capsys) -> None:
    network = saved(resizing_network(), tmp_path / "resize.onnx")
    assert main([str(network), "--out", str(out), "--make", "int8", *QUICK]) == 1
    assert "it has nothing between the first and the last layer" in capsys.readouterr().out
    assert names(out) == ["resize_optimize.json"]


@pytest.mark.usefixtures("plain")
def test_a_built_in_style_at_half_and_a_third_of_its_size(out: Path) -> None:
    options = ["--photos", str(SAMPLES), "--size", "128", "--rounds", "1", "--make", "fp16-weights,fp16,int8,ort"]
    assert main(["hayao", "--out", str(out), *options]) == 0
    content = json.loads((out / "lite_hayao_optimize.json").read_text(encoding="utf-8"))
    sizes = {file["kind"]: file["size_ratio"] for file in content["files"]}
    assert 0.48 < sizes["fp16-weights"] < 0.53
    assert 0.48 < sizes["fp16"] < 0.53
    assert sizes["int8"] < 0.35
    ssim = {file["kind"]: file["mean"]["ssim"] for file in content["files"]}
    assert min(ssim["fp16-weights"], ssim["fp16"]) > 0.995
    assert ssim["int8"] > 0.98


def test_every_kind_is_documented() -> None:
    text = (PROJECT_ROOT / "docs" / "tools" / "optimize.md").read_text(encoding="utf-8")
    for kind, suffix in workshop.SUFFIXES.items():
        assert f"| `{kind}` | `NAME{suffix}` |" in text
    assert f"`{','.join(workshop.USUAL)}`" in text


def test_a_network_that_draws_nothing_is_refused(tmp_path: Path, out: Path) -> None:
    """It answers with ten numbers, as those do that tell cats from dogs."""
    model = residual_network()
    weight = onnx.numpy_helper.from_array(np.zeros((3, 10), np.float32), "classes")
    nodes = [
        *model.graph.node[:-1],
        onnx.helper.make_node("Add", ["d", "input"], ["picture"], name="sum"),
        onnx.helper.make_node("GlobalAveragePool", ["picture"], ["pooled"], name="pool"),
        onnx.helper.make_node("Flatten", ["pooled"], ["flat"], name="flat"),
        onnx.helper.make_node("MatMul", ["flat", "classes"], ["output"], name="classes"),
    ]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.append(weight)
    model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("output", onnx.TensorProto.FLOAT, ["batch", 10]))
    with pytest.raises(ModelError, match="not a picture"):
        main([str(saved(model, tmp_path / "classes.onnx")), "--out", str(out)])
    assert not out.exists()


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    for name in [name for name in sys.modules if name.startswith("tools.shrink")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ToolError, match="onnx package is not installed"):
        main(["hayao", "--out", str(out)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("AnimeGANv3_tiny_Cute", workshop.USUAL),
        ("AnimeGANv3_Shinkai_37", workshop.USUAL),
        # Fixed at 512 px: the search would take a quarter of an hour.
        ("AnimeGANv3_Hayao_36", tuple(kind for kind in workshop.USUAL if kind != "int8")),
    ],
)
def test_reference_networks_go_through_the_workshop(name: str, kinds: tuple[str, ...], out: Path) -> None:
    pytest.importorskip("onnxslim", reason="model tools are not installed")
    path = REFERENCE / f"{name}.onnx"
    if not path.is_file():
        pytest.skip("the reference networks are not here")
    options = [
        "--photos",
        str(SAMPLES),
        "--size",
        "256",
        "--rounds",
        "1",
        "--seconds",
        "900",
        "--make",
        ",".join(kinds),
    ]
    assert main([str(path), "--out", str(out), *options]) == 0
    content = json.loads((out / f"{name}_optimize.json").read_text(encoding="utf-8"))
    assert [file["kind"] for file in content["files"]] == list(kinds)
    simpler = content["files"][0]
    assert simpler["worst"]["max_error"] == 0
    assert simpler["note"].endswith(("168", "417", "264"))
