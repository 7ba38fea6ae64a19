"""The whole command on a copy of the built-in models, small and quick."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

from app.config import PROJECT_ROOT
from app.errors import ModelError
from app.inference.registry import ModelRegistry
from tools.command import ToolError
from tools.make_variants import main

SAMPLES = PROJECT_ROOT / "static" / "samples"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    shutil.copytree(PROJECT_ROOT / "models", folder, ignore=shutil.ignore_patterns("added", "pulled"))
    return folder


def test_a_style_gets_another_network_with_all_its_variants(models: Path, tmp_path: Path) -> None:
    words = ["hayao", "--weights", str(models / "lite_cute.onnx"), "--models", str(models), "--size", "96"]
    assert main([*words, "--photos", str(SAMPLES), "--out", str(tmp_path / "out")]) == 0
    registry = ModelRegistry.load(models, variant="int8", processor="elsewhere")
    style = registry.styles["hayao"]
    assert (style.usable, style.note, style.path.name) == (True, None, "lite_hayao_int8.onnx")
    listed = tomllib.loads((models / "models.toml").read_text(encoding="utf-8"))["styles"]
    variants = {style["id"]: style["variants"] for style in listed}
    assert variants["hayao"]["fp32"]["sha256"] == variants["cute"]["fp32"]["sha256"]
    assert variants["hayao"]["int8"]["verified"]["size"] == 96


def test_wrong_words_change_nothing(models: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in models.iterdir() if path.is_file()}
    (tmp_path / "text.onnx").write_text("no network", encoding="utf-8")
    common = ["--models", str(models), "--out", str(tmp_path / "out")]
    for words in (
        ["nobody"],
        ["hayao", "cute", "--weights", str(models / "lite_cute.onnx")],
        ["hayao", "--weights", str(tmp_path / "missing.onnx")],
        ["hayao", "cute", "--small", str(models / "lite_cute.onnx")],
        ["hayao", "--small", str(tmp_path / "text.onnx")],
    ):
        with pytest.raises((ToolError, ModelError)):
            main([*words, *common])
    assert {path.name: path.read_bytes() for path in models.iterdir() if path.is_file()} == before
    assert not (tmp_path / "out").exists()
