"""Whom a word on the command line names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT
from app.errors import ModelError
from app.inference.registry import ModelRegistry
from tools.command import ToolError
from tools.judge.subjects import find_subject

MODELS = PROJECT_ROOT / "models"
REGISTRY = ModelRegistry.load(MODELS)


@pytest.mark.parametrize(
    ("text", "name", "file"),
    [("hayao", "hayao fp32", "lite_hayao.onnx"), ("cute:int8", "cute int8", "lite_cute_int8.onnx")],
)
def test_a_style_or_its_variant(text: str, name: str, file: str) -> None:
    subject = find_subject(text, REGISTRY)
    assert (subject.name, subject.path.name) == (name, file)


def test_a_file_of_a_style_is_known_wherever_it_lies_and_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    shutil.copy(MODELS / "lite_hayao_int8.onnx", path)
    subject = find_subject(str(path), REGISTRY)
    assert (subject.name, subject.path) == ("hayao int8", path)


def test_an_unknown_file_is_looked_at(unknown: Path) -> None:
    card = find_subject(str(unknown), REGISTRY).card
    assert (card.layout, card.input_range, card.output_range) == ("NCHW", (-1.0, 1.0), (-1.0, 1.0))
    assert card.sizes.multiple_of == 8


def test_or_taken_for_a_variant_of_a_style(unknown: Path) -> None:
    subject = find_subject(str(unknown), REGISTRY, like="cute")
    assert subject.card.id == "cute"
    assert subject.weights.bytes == unknown.stat().st_size
    with pytest.raises(ToolError, match="No style is called nobody"):
        find_subject(str(unknown), REGISTRY, like="nobody")


@pytest.fixture
def unknown(tmp_path: Path) -> Path:
    """A built-in network that is no longer the file that models.toml describes."""
    path = tmp_path / "unknown.onnx"
    # An unknown field of the outermost message, which every reader of protocol buffers skips: number 1000, value 0.
    path.write_bytes((MODELS / "lite_hayao.onnx").read_bytes() + bytes([0xC0, 0x3E, 0x00]))
    return path


@pytest.mark.parametrize("text", ["nobody", "hayao:int4", "nowhere/a.onnx", "."])
def test_what_is_neither_is_told(text: str) -> None:
    with pytest.raises(ToolError):
        find_subject(text, REGISTRY)


@pytest.mark.parametrize("content", [b"no network", (MODELS / "lite_hayao.onnx").read_bytes()[:9999]])
def test_a_file_that_is_no_network_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(content)
    with pytest.raises((ToolError, ModelError), match=r"bad\.onnx"):
        find_subject(str(path), REGISTRY)


def test_a_damaged_file_of_a_style_is_told(tmp_path: Path) -> None:
    for name in ("models.toml", "lite_hayao.onnx", "lite_cute.onnx"):
        shutil.copy(MODELS / name, tmp_path)
    registry = ModelRegistry.load(tmp_path)
    with pytest.raises(ToolError, match=r"lite_hayao_int8.onnx is missing"):
        find_subject("hayao:int8", registry)
