"""Pairs of photo and drawing: made once, the same whenever they are made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.types import RgbImage
from tools.command import ToolError
from training.crops import random_square
from training.pairs import PairFolder, make_all


def negative(rgb: RgbImage) -> RgbImage:
    """A teacher that is quick."""
    return 255 - rgb


def made(folder: Path, photos: Path, indices: list[int]) -> PairFolder:
    pairs = PairFolder(folder, "negative", seed=1)
    for index in indices:
        pairs.make(index, sorted(photos.rglob("*.png")), random_square, negative)
    return pairs


def test_the_drawing_is_of_the_very_photo_beside_it(photos: Path, tmp_path: Path) -> None:
    photo, drawing = made(tmp_path / "pairs", photos, [0]).load(0)
    assert photo.shape == (512, 512, 3)
    assert np.array_equal(drawing, 255 - photo)


def test_a_pair_is_the_same_whatever_was_made_before_it(photos: Path, tmp_path: Path) -> None:
    first, second = made(tmp_path / "a", photos, [0, 1, 2]), made(tmp_path / "b", photos, [2])
    assert np.array_equal(first.load(2), second.load(2))
    assert not np.array_equal(first.load(1), first.load(2))


def test_only_what_is_missing_is_made(photos: Path, tmp_path: Path) -> None:
    pairs = made(tmp_path / "pairs", photos, [1])
    drawn = []
    make_all(pairs, 3, sorted(photos.rglob("*.png")), random_square, negative, drawn.append)
    assert len(drawn) == 2
    assert pairs.missing(3) == []


def test_another_teacher_s_pairs_are_not_mixed_in(tmp_path: Path) -> None:
    PairFolder(tmp_path / "pairs", "negative", seed=1)
    with pytest.raises(ToolError, match="made in another way"):
        PairFolder(tmp_path / "pairs", "positive", seed=1)


def test_a_broken_photo_is_named_once_and_its_turn_goes_to_the_next(photos: Path, tmp_path: Path) -> None:
    broken = sorted(photos.rglob("*.png"))[3]
    broken.write_bytes(b"no picture")
    pairs = made(tmp_path / "pairs", photos, list(range(16)))
    assert pairs.missing(16) == []
    assert [sentence.split(": ")[0] for sentence in pairs.skipped] == ["mixed/3.png"]


def test_where_no_photo_can_be_used_it_says_so(photos: Path, tmp_path: Path) -> None:
    pairs = PairFolder(tmp_path / "pairs", "negative", seed=1)
    with pytest.raises(ToolError, match="None of the photos"):
        pairs.make(0, sorted(photos.rglob("*.png")), lambda photo, random: None, negative)
