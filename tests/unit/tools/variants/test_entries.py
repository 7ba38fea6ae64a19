"""models.toml edited as text: one style's variants change, and nothing else."""

from __future__ import annotations

import tomllib

import pytest

from app.config import PROJECT_ROOT
from app.inference.card import WeightFile
from tools.command import ToolError
from tools.variants.entries import weight_entry, with_entries, with_small

TEXT = """# The styles the service offers.

[[styles]]
id = "hayao"
kind = "scene"

[styles.variants.fp32]
file = "h.onnx"

[styles.variants.int8]
file = "h8.onnx"

[styles.variants.int8.verified]
against = "fp32"

[[styles]]
id = "cute"
kind = "face"

[styles.variants.fp32]
file = "c.onnx"

[[presets]]
id = "portrait"
"""
OWN = (PROJECT_ROOT / "models" / "models.toml").read_text(encoding="utf-8")
ENTRY = weight_entry("fp32", WeightFile("new.onnx", "c" * 64, 12))


@pytest.mark.parametrize("style", ["hayao", "cute"])
@pytest.mark.parametrize("text", [TEXT, OWN], ids=["a short one", "the project's"])
def test_only_the_variants_of_the_style_change(text: str, style: str) -> None:
    before, after = tomllib.loads(text), tomllib.loads(with_entries(text, style, [ENTRY]))
    for entry in before["styles"] + after["styles"]:
        entry["variants"].pop("small", None)
    (changed,) = [entry for entry in after["styles"] if entry["id"] == style]
    assert changed["variants"] == {"fp32": {"file": "new.onnx", "sha256": "c" * 64, "bytes": 12}}
    for entry in before["styles"]:
        if entry["id"] == style:
            entry["variants"] = changed["variants"]
    assert after == before


def test_the_same_entries_again_leave_the_same_text() -> None:
    once = with_entries(TEXT, "cute", [ENTRY])
    assert with_entries(once, "cute", [ENTRY]) == once
    assert "# The styles the service offers" in once


def test_a_judgement_stands_below_its_variant() -> None:
    entry = weight_entry("int8", WeightFile("a.onnx", "d" * 64, 3), '[styles.variants.int8.verified]\nagainst = "fp32"')
    content = tomllib.loads(with_entries(TEXT, "hayao", [ENTRY, entry]))["styles"][0]["variants"]
    assert content["int8"]["verified"] == {"against": "fp32"}


def test_a_style_that_is_not_there_is_told() -> None:
    with pytest.raises(ToolError, match="no style nobody"):
        with_entries(TEXT, "nobody", [ENTRY])


SMALL = weight_entry("small", WeightFile("small.onnx", "e" * 64, 7))


@pytest.mark.parametrize("style", ["hayao", "cute"])
def test_a_smaller_network_comes_behind_the_others_and_stays_when_they_change(style: str) -> None:
    (before,) = [entry for entry in tomllib.loads(TEXT)["styles"] if entry["id"] == style]
    text = with_small(TEXT, style, SMALL)
    content = tomllib.loads(text)
    (changed,) = [entry for entry in content["styles"] if entry["id"] == style]
    assert list(changed["variants"]) == [*before["variants"], "small"]
    assert changed["variants"].pop("small") == {"file": "small.onnx", "sha256": "e" * 64, "bytes": 7}
    assert changed == before
    assert content["presets"] == [{"id": "portrait"}]
    assert with_small(text, style, SMALL) == text
    (again,) = [entry for entry in tomllib.loads(with_entries(text, style, [ENTRY]))["styles"] if entry["id"] == style]
    assert list(again["variants"]) == ["fp32", "small"]
