"""Which photos are learnt from, and what becomes of those that are none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools.command import ToolError
from training.photos import UnreadablePhoto, load_photo, split


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.png"))


def test_no_photo_is_both_learnt_from_and_judged_by(photos: Path) -> None:
    parts = split(files(photos))
    assert not set(parts.learnt) & set(parts.held_out)
    assert set(parts.learnt) | set(parts.held_out) == set(files(photos))


def test_a_photo_falls_on_the_same_side_whatever_its_name(photos: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "renamed"
    renamed.mkdir()
    for path in files(photos):
        shutil.copy(path, renamed / f"other_{path.name}")
    first, second = split(files(photos)), split(files(renamed))
    assert [f"other_{path.name}" for path in first.held_out] == [path.name for path in second.held_out]


def test_the_same_photo_twice_counts_once(photos: Path) -> None:
    one = files(photos)[0]
    shutil.copy(one, one.with_name("copy.png"))
    parts = split(files(photos))
    assert len(parts.learnt) + len(parts.held_out) == len(files(photos)) - 1


def test_one_photo_is_too_few(photos: Path) -> None:
    with pytest.raises(ToolError, match="1 different photos are too few"):
        split(files(photos)[:1])


def test_a_broken_photo_is_named(photos: Path) -> None:
    broken = files(photos)[0]
    broken.write_bytes(broken.read_bytes()[:300])
    with pytest.raises(UnreadablePhoto, match=f"mixed/{broken.name}: "):
        load_photo(broken)
