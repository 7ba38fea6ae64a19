"""Finding and loading photos for measuring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tools.command import ToolError
from tools.pictures import find_photos, load_photos


def save(path: Path, width: int = 100, height: int = 80) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.zeros((height, width, 3), np.uint8)).save(path)
    return path


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """One of 3 photos and one of 40, and what is no photo."""
    for number in range(3):
        save(tmp_path / "few" / f"{number}.jpg")
    for number in range(40):
        save(tmp_path / "many" / ("a" if number < 20 else "b") / f"{number:02}.png")
    (tmp_path / "many" / "notes.txt").write_text("no photo")
    save(tmp_path / "many" / ".hidden" / "x.png")
    return tmp_path / "few", tmp_path / "many"


def test_photos_are_found_to_the_bottom_and_nothing_else(folders: tuple[Path, Path]) -> None:
    assert len(find_photos(folders)) == 43


def test_a_limit_takes_from_every_folder_at_even_distances(folders: tuple[Path, Path]) -> None:
    names = [path.name for path in find_photos(folders, limit=11)]
    assert names == ["0.jpg", "1.jpg", "2.jpg", *(f"{number:02}.png" for number in range(0, 40, 5))]
    assert [path.name for path in find_photos(folders, limit=4)] == ["0.jpg", "1.jpg", "00.png", "20.png"]


def test_a_limit_above_all_takes_all_once(folders: tuple[Path, Path]) -> None:
    assert find_photos(folders, limit=99) == find_photos(folders)


def test_the_samples_are_there_by_default() -> None:
    assert {"astronaut.jpg", "cat.jpg", "coffee.jpg"} <= {path.name for path in find_photos(limit=6)}


def test_a_missing_or_empty_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="nowhere"):
        find_photos((tmp_path / "nowhere",))
    with pytest.raises(ToolError, match="No picture found"):
        find_photos((tmp_path,))


def test_photos_are_planned_to_a_size_and_never_enlarged(tmp_path: Path) -> None:
    large, small = save(tmp_path / "large.png", 300, 200), save(tmp_path / "small.png", 90, 70)
    shapes = {photo.name: photo.rgb.shape for photo in load_photos([large, small], 150)}
    assert set(shapes.values()) == {(100, 150, 3), (70, 90, 3)}
    assert all(name.endswith(("/large.png", "/small.png")) for name in shapes)


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    broken, tiny = tmp_path / "broken.jpg", save(tmp_path / "tiny.png", 20, 20)
    broken.write_bytes(b"no picture")
    for path in (broken, tiny):
        with pytest.raises(ToolError, match=path.name):
            list(load_photos([path], 100))
