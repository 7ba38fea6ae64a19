"""The command: a bundle of the built-in style at one small size, and what an app finds in it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from PIL import Image

pytest.importorskip("onnx", reason="the workshop's packages are not installed")

from app.config import PROJECT_ROOT
from tools.bundle import main
from tools.command import ToolError, run_command
from tools.measures import scores
from tools.measures.scores import MEASURES

REFERENCE = PROJECT_ROOT.parent / "shared" / "models" / "reference"


@pytest.fixture
def without_other_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where neither ncnn, pnnx nor OpenVINO is installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "pnnx" else find(name, *rest))
    for name in ("ncnn", "openvino"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with all that can be made here."""
    folder = tmp_path_factory.mktemp("bundles") / "hayao"
    main(
        ["hayao", "--out", str(folder), "--sizes", "64", "48x32", "--photos", str(PROJECT_ROOT / "static" / "samples")]
    )
    return folder


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "model.json").read_text(encoding="utf-8"))


def entries(data: object) -> list[dict[str, Any]]:
    """Every file that is named anywhere in ``data``."""
    if isinstance(data, dict):
        own = [data] if "sha256" in data else []
        return own + [entry for value in data.values() for entry in entries(value)]
    return [entry for value in data for entry in entries(value)] if isinstance(data, list) else []


def test_every_file_is_named_with_its_length_and_sha256(bundle: Path) -> None:
    named = {entry["path"]: entry for entry in entries(manifest(bundle))}
    pages = {"model.json", "README.md", "android.md", "ios.md"}
    found = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert found == named.keys() | pages
    for name, entry in named.items():
        content = (bundle / name).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["bytes"], entry["sha256"])


def test_an_app_that_knows_nothing_but_model_json_draws_the_expected_picture(bundle: Path) -> None:
    data = manifest(bundle)
    assert [example["name"] for example in data["examples"]] == ["chart", "photo"]
    models = [model for model in data["models"] if model["engine"] == "onnxruntime" and model["precision"] == "fp32"]
    for example in data["examples"]:
        model = next(
            model for model in models if model["size"] == {"width": example["width"], "height": example["height"]}
        )
        photo = np.asarray(Image.open(bundle / example["picture"]["path"]).convert("RGB"), np.float32)
        tensor = (photo * np.float32(data["input"]["scale"]) + np.float32(data["input"]["offset"])).transpose(2, 0, 1)
        given = np.fromfile(bundle / example["input"]["path"], "<f4").reshape(example["shape"])
        np.testing.assert_allclose(tensor[np.newaxis], given, atol=1e-6)
        session = ort.InferenceSession(str(bundle / model["files"][0]["path"]))
        output = session.run([data["output"]["name"]], {data["input"]["name"]: given})[0]
        expected = np.fromfile(bundle / example["output"]["path"], "<f4").reshape(example["shape"])
        np.testing.assert_allclose(output, expected, atol=1e-4)
        levels = np.rint(output[0] * data["output"]["scale"] + data["output"]["offset"]).clip(0, 255).transpose(1, 2, 0)
        answer = np.asarray(Image.open(bundle / example["answer"]["path"]).convert("RGB"), np.float32)
        assert np.abs(levels - answer).max() <= 1


def test_every_size_and_precision_is_there_and_was_measured(bundle: Path) -> None:
    models = manifest(bundle)["models"]
    made = {
        (model["format"], model["precision"], size["width"], size["height"])
        for model in models
        for size in ([model["size"]] if model["size"] else manifest(bundle)["sizes"])
    }
    for size in ((64, 64), (48, 32)):
        assert {("onnx", precision, *size) for precision in ("fp32", "fp16", "int8")} <= made
        assert {("ort", "fp32", *size), ("ort", "int8", *size)} <= made
        assert ("ort", "fp16", *size) not in made
    for measured in (row for model in models for row in model["measured"]):
        assert measured["ssim"] > 0.98
        assert measured["mean_error"] < 1.5
        assert all(taken > 0 for taken in measured["milliseconds"].values())
    assert all(model["measured"] for model in models)


@pytest.mark.parametrize("engine", ["ncnn", "openvino"])
def test_other_engines_are_there_where_their_packages_are(bundle: Path, engine: str) -> None:
    data = manifest(bundle)
    made = [model["precision"] for model in data["models"] if model["engine"] == engine]
    if importlib.util.find_spec(engine) and importlib.util.find_spec("pnnx"):
        assert set(made) == ({"fp16", "int8"} if engine == "ncnn" else {"fp16"})
        assert data["left_out"] == []
    else:
        assert made == []
        assert any(sentence.startswith(engine) for sentence in data["left_out"])


def test_nothing_in_a_bundle_tells_where_it_was_made(bundle: Path) -> None:
    for path in bundle.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert str(bundle.parent).encode() not in content, path.name
            assert str(PROJECT_ROOT).encode() not in content, path.name


@pytest.mark.usefixtures("without_other_engines")
def test_missing_packages_cost_their_part_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["cute", "--out", str(tmp_path / "bundle"), "--sizes", "32"])
    said = capsys.readouterr().out
    assert "Left out: openvino: openvino is not installed here" in said
    assert "Left out: ncnn: ncnn is not installed here" in said
    data = manifest(tmp_path / "bundle")
    assert {model["format"] for model in data["models"]} == {"onnx", "ort"}
    assert data["kind"] == "face"
    assert sorted(path.name for path in (tmp_path / "bundle").iterdir() if path.is_dir()) == ["examples", "onnx", "ort"]


@pytest.mark.usefixtures("without_other_engines")
def test_a_file_that_misses_its_bar_is_not_in_the_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = MEASURES["ssim"]
    worse = replace(real, of=lambda a, b: 1.0 if (a == b).mean() > 0.95 else 0.5)
    monkeypatch.setattr(scores, "MEASURES", {**MEASURES, "ssim": worse})
    main(["hayao", "--out", str(tmp_path / "bundle"), "--sizes", "32"])
    data = manifest(tmp_path / "bundle")
    assert {model["precision"] for model in data["models"]} == {"fp32", "fp16"}
    assert list((tmp_path / "bundle").rglob("*int8*")) == []
    assert any("onnx/hayao-int8-32x32.onnx at 32x32: mean ssim >= 0.98, not 0.5" in why for why in data["left_out"])


@pytest.mark.usefixtures("without_other_engines")
def test_a_file_of_ones_own_is_looked_at_and_bundled(tmp_path: Path) -> None:
    # Another byte at the end of a text field makes it a file that no card knows.
    import onnx

    model = onnx.load(PROJECT_ROOT / "models" / "lite_hayao.onnx")
    model.doc_string = "mine"
    onnx.save(model, tmp_path / "My Style (1).onnx")
    main([str(tmp_path / "My Style (1).onnx"), "--out", str(tmp_path / "bundle"), "--sizes", "32"])
    data = manifest(tmp_path / "bundle")
    assert data["licence"]["commercial_use"] is False
    assert data["input"]["range"] == [-1, 1]
    assert sorted(path.name for path in (tmp_path / "bundle" / "onnx").iterdir()) == ["my_style_1-32x32.onnx"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "neither a file nor a style"),
        (b"", "is empty"),
        (b"no network at all", "."),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        ("cut", "."),
    ],
    ids=["missing", "empty", "text", "pointer", "truncated"],
)
def test_what_is_no_network_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content, why: str
) -> None:
    path, out = tmp_path / "a.onnx", tmp_path / "out"
    whole = (PROJECT_ROOT / "models" / "lite_hayao.onnx").read_bytes()
    if content is not None:
        path.write_bytes(whole[: len(whole) // 2] if content == "cut" else content)
    with pytest.raises(SystemExit) as ended:
        run_command(lambda: main([str(path), "--out", str(out), "--sizes", "32"]))
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert why in said
    assert {item.name for item in tmp_path.iterdir()} <= {"a.onnx"}


def test_a_size_that_the_style_does_not_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="multiples of 8 px"):
        main(["hayao", "--out", str(tmp_path / "bundle"), "--sizes", "100"])
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_that_is_there_already_is_kept(bundle: Path) -> None:
    before = (bundle / "model.json").read_bytes()
    with pytest.raises(ToolError, match="is there already"):
        main(["hayao", "--out", str(bundle), "--sizes", "64"])
    assert (bundle / "model.json").read_bytes() == before


@pytest.mark.slow
def test_the_usual_sizes(tmp_path: Path) -> None:
    main(["hayao", "--out", str(tmp_path / "bundle")])
    data = manifest(tmp_path / "bundle")
    assert [size["width"] for size in data["sizes"]] == [256, 384, 512]
    made = {(model["format"], model["precision"], (model["size"] or {}).get("width")) for model in data["models"]}
    assert {("onnx", "fp32", side) for side in (256, 384, 512)} <= made
    assert {("ort", "fp32", side) for side in (256, 384, 512)} <= made


@pytest.mark.slow
def test_the_authors_network_with_channels_last(tmp_path: Path) -> None:
    path = REFERENCE / "AnimeGANv3_tiny_Cute.onnx"
    if not path.exists():
        pytest.skip("the reference networks are not here: they are their author's and not shipped")
    samples = PROJECT_ROOT / "static" / "samples"
    main([str(path), "--out", str(tmp_path / "bundle"), "--sizes", "64", "--photos", str(samples)])
    data = manifest(tmp_path / "bundle")
    assert data["examples"][0]["shape"] == [1, 64, 64, 3]
    assert {"onnx", "ort"} <= {model["format"] for model in data["models"]}
    if importlib.util.find_spec("ncnn") and importlib.util.find_spec("pnnx"):
        assert next(model["precision"] for model in data["models"] if model["engine"] == "ncnn") == "fp16"
