"""Changes to the models' folder appear together, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.variants.staging import staged


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a list, two files and an owner's style."""
    (tmp_path / "added" / "mine").mkdir(parents=True)
    for name in ("models.toml", "a.onnx", "b.onnx"):
        (tmp_path / name).write_text(f"old {name}", encoding="utf-8")
    return tmp_path


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}


def test_what_changed_comes_and_what_went_goes(models: Path) -> None:
    with staged(models) as copy:
        assert not (copy / "added").exists()
        (copy / "models.toml").write_text("new", encoding="utf-8")
        (copy / "c.onnx").write_text("new", encoding="utf-8")
        (copy / "b.onnx").unlink()
        assert contents(models)["models.toml"] == "old models.toml"
    assert contents(models) == {"models.toml": "new", "a.onnx": "old a.onnx", "c.onnx": "new"}
    assert sorted(path.name for path in models.iterdir() if path.is_dir()) == ["added"]


def test_a_bad_end_changes_nothing(models: Path) -> None:
    before = contents(models)
    with pytest.raises(ZeroDivisionError), staged(models) as copy:
        _spoil(copy)
    assert contents(models) == before
    assert sorted(path.name for path in models.iterdir() if path.is_dir()) == ["added"]


def _spoil(folder: Path) -> None:
    (folder / "models.toml").write_text("new", encoding="utf-8")
    (folder / "b.onnx").unlink()
    raise ZeroDivisionError
