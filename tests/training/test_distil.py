"""From photos and a teacher to a network that the service takes, in one command."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch (requirements-tools.txt) is not installed")
pytest.importorskip("onnx", reason="onnx (requirements-tools.txt) is not installed")

from app.config import PROJECT_ROOT
from app.inference.card import Licence
from app.inference.registry import ModelRegistry
from app.library.adding import add_style, sample_photos
from app.library.card_file import About, in_all_languages
from tools.command import ToolError
from training.distil import main

TEACHER = PROJECT_ROOT / "models" / ModelRegistry.load(PROJECT_ROOT / "models").card("hayao").variants["fp32"].file
QUICK = ["--size", "s", "--steps", "50", "--pairs", "3", "--batch", "1", "--crop", "64", "--validate-every", "50"]


def distil(photos: Path, out: Path, *more: str) -> int:
    return main(["--teacher", str(TEACHER), "--photos", str(photos), "--out", str(out), *QUICK, *more])


@pytest.fixture
def taught(photos: Path, tmp_path: Path) -> Path:
    out = tmp_path / "out"
    assert distil(photos, out) == 0
    return out


def test_it_leaves_a_network_a_card_a_report_a_curve_and_a_sheet(taught: Path) -> None:
    names = {path.name for path in taught.iterdir()}
    assert names >= {
        "student.pt", "student.onnx", "student_fp16.onnx", "card.toml", "report.md", "scores.json", "curve.svg",
        "sheet.jpg", "log.csv", "state.pt",
    }  # fmt: skip
    assert (taught / "student_fp16.onnx").stat().st_size < 0.55 * (taught / "student.onnx").stat().st_size
    assert "| SSIM |" in (taught / "report.md").read_text()


def test_the_service_takes_the_network(taught: Path, tmp_path: Path) -> None:
    about = About(
        "student", in_all_languages("Student"), in_all_languages("."), "scene", None, "lite2", None,
        Licence("CC0-1.0", "Ours."), True, 512,
    )  # fmt: skip
    (tmp_path / "models").mkdir()
    shutil.copy(PROJECT_ROOT / "models" / "models.toml", tmp_path / "models")
    card = add_style(
        tmp_path / "models", taught / "student.onnx", about, sample_photos(PROJECT_ROOT / "static"), threads=1
    )
    assert (card.layout, card.sizes.multiple_of, card.local) == ("NCHW", 8, True)


def test_called_again_it_has_nothing_left_to_do(taught: Path, photos: Path) -> None:
    before = torch.load(taught / "student.pt", weights_only=True)
    assert distil(photos, taught) == 0
    after = torch.load(taught / "student.pt", weights_only=True)
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_corrupt_photo_is_skipped_and_named(photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Its content decides the side it falls on; of so many, some fall on the learning side.
    for index in range(4):
        (photos / "mixed" / f"corrupt{index}.jpg").write_bytes(b"\xff\xd8\xff" + bytes([index]) * 200)
    assert distil(photos, tmp_path / "out", "--pairs", "12") == 0
    assert "skipped mixed/corrupt" in capsys.readouterr().out


def test_it_begins_with_another_student_s_weights(taught: Path, photos: Path, tmp_path: Path) -> None:
    def first_loss(*more: str) -> float:
        out = tmp_path / f"from{Path(more[-1]).suffix if more else ''}"
        assert distil(photos, out, *more) == 0
        return float((out / "log.csv").read_text().splitlines()[1].split(",")[3])

    saved = first_loss("--start", str(taught / "student.pt"))
    assert saved < first_loss()
    # So a course can go on from a style that is shipped.
    assert first_loss("--start", str(taught / "student.onnx")) == saved


@pytest.mark.parametrize("name", ["start.pt", "start.onnx"])
@pytest.mark.parametrize("content", [b"", b"half a file", None])
def test_weights_that_are_none_are_told(content: bytes | None, name: str, photos: Path, tmp_path: Path) -> None:
    start = tmp_path / name
    if content is None:
        torch.save({"a": np.float64(1)}, start)
    else:
        start.write_bytes(content)
    with pytest.raises(ToolError, match=r"start\.(pt|onnx)"):
        distil(photos, tmp_path / "out", "--start", str(start))


def test_eyes_and_mouths_may_be_looked_at_more_often(tmp_path: Path) -> None:
    faces = tmp_path / "faces"
    faces.mkdir()
    for index in range(24):  # Copies that differ by what a decoder does not read, so that some are kept to judge by.
        sample = (PROJECT_ROOT / "static" / "samples" / "astronaut.jpg").read_bytes()
        (faces / f"{index}.jpg").write_bytes(sample + bytes([index]))
    out = tmp_path / "out"
    assert distil(faces, out, "--face", "--focus", "0.75") == 0
    assert torch.load(out / "state.pt", weights_only=False)["recipe"]["focus"] == 0.75


@pytest.mark.parametrize("share", ["-0.1", "1.1", "nan", "much"])
def test_a_focus_that_is_no_share_is_told(
    share: str, photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        distil(photos, tmp_path / "out", f"--focus={share}")
    assert "share from 0 to 1" in capsys.readouterr().err


def test_a_teacher_that_is_missing_is_told(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="is missing"):
        main(["--teacher", str(tmp_path / "none.onnx"), "--photos", str(photos), "--out", str(tmp_path / "out")])
