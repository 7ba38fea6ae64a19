"""A folder appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.command import ToolError
from tools.phone.folder import whole_folder


def test_a_folder_appears_with_all_that_was_put_into_it(tmp_path: Path) -> None:
    target = tmp_path / "new" / "bundle"
    with whole_folder(target) as folder:
        (folder / "a").write_text("a")
        assert not target.exists()
    assert (target / "a").read_text() == "a"
    assert [path.name for path in target.parent.iterdir()] == ["bundle"]


def test_an_empty_folder_may_be_there_already(tmp_path: Path) -> None:
    with whole_folder(tmp_path) as folder:
        (folder / "a").write_text("a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_nothing_is_left_of_a_failure(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), whole_folder(tmp_path / "bundle") as folder:
        folder.read_bytes()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("taken", ["file", "folder"])
def test_what_is_there_already_is_not_touched(tmp_path: Path, taken: str) -> None:
    target = tmp_path / "bundle"
    kept = target if taken == "file" else target / "kept"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("precious")
    with pytest.raises(ToolError, match="is there already"), whole_folder(target):
        pytest.fail("there is nothing to fill")
    assert kept.read_text() == "precious"
