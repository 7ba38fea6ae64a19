"""The command, on the built-in networks and small photos."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from app.config import PROJECT_ROOT
from tools.command import ToolError
from tools.verify import main


@pytest.fixture
def small(tmp_path: Path) -> list[str]:
    """Options for one small photo and made pictures as small."""
    folder = tmp_path / "photos"
    folder.mkdir()
    with Image.open(PROJECT_ROOT / "static" / "samples" / "cat.jpg") as photo:
        photo.resize((120, 96)).save(folder / "cat.png")
    return ["--photos", str(folder), "--size", "96", "--threads", "1"]


def test_half_precision_passes_and_leaves_a_page(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "new" / "report.html"
    assert main(["hayao", "hayao:fp16", "--bars", "fp16", "--report", str(page), *small]) == 0
    assert capsys.readouterr().out.endswith("PASSED\n")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_another_style_fails(small: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hayao", "cute", "--json", *small]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["passed"] is False
    assert [row["name"] for row in data["pictures"]] == ["photos/cat.png", "made sky", "made skin", "made dark"]
    assert data["command"] == "python -m tools.verify hayao cute --bars int8 --size 96 --limit 12"


def test_a_card_entry_is_printed_for_a_variant_that_passes(
    small: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hayao", "hayao:int8", "--bars", "ssim=0.9", "--card", *small]) == 0
    assert capsys.readouterr().out.startswith("[styles.variants.int8.verified]\n")


def test_without_two_networks_there_is_no_verdict(small: list[str]) -> None:
    with pytest.raises(ToolError):
        main(["hayao", "nobody", *small])


@pytest.mark.parametrize("wrong", [["--size", "9"], ["--size", "x"], ["--limit", "0"], ["--threads", "-1"]])
def test_numbers_that_make_no_sense_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["hayao", "cute", *wrong])
    assert ended.value.code == 2
    assert "must be a whole number" in capsys.readouterr().err
