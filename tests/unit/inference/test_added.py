"""Added styles are read with those of models.toml, and a bad one costs nobody but itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from app.errors import NoUsableStyle
from app.inference.registry import ModelRegistry
from tests.unit.inference.test_registry import Shelf, as_toml, described, shelf, style

__all__ = ["shelf"]


def put(models_dir: Path, name: str, **changes: Any) -> Path:
    """An added style whose weights are its name in bytes; returns its folder."""
    folder = models_dir / "added" / name
    folder.mkdir(parents=True)
    table = style(name, variants={"fp32": described("own.onnx", name.encode())}) | changes
    (folder / "card.toml").write_text(as_toml({key: value for key, value in table.items() if value is not None}))
    (folder / "own.onnx").write_bytes(name.encode())
    return folder


def test_they_come_after_the_built_in_ones_in_the_order_of_their_names(shelf: Shelf) -> None:
    folder = shelf(style("b"), style("a"))
    put(folder, "z")
    put(folder, "c")
    registry = ModelRegistry.load(folder)
    assert list(registry.styles) == ["b", "a", "c", "z"]
    assert registry.usable == ("b", "a", "c", "z")
    assert [entry.added for entry in registry.styles.values()] == [False, False, True, True]
    assert registry.lost == {}


def test_their_files_lie_beside_their_card(shelf: Shelf) -> None:
    folder = shelf(style("a"))
    own = put(folder, "mine")
    assert ModelRegistry.load(folder).styles["mine"].path == own / "own.onnx"


def test_no_folder_of_added_styles_is_no_fault(shelf: Shelf) -> None:
    assert ModelRegistry.load(shelf(style("a"))).lost == {}


def test_one_without_an_address_is_a_style_too(shelf: Shelf) -> None:
    folder = shelf(style("a"))
    put(folder, "mine", source=None)
    assert ModelRegistry.load(folder).card("mine").source is None


def test_unfinished_folders_and_files_beside_are_not_looked_at(shelf: Shelf) -> None:
    folder = shelf(style("a"))
    put(folder, "mine").rename(folder / "added" / ".new-mine-1234")
    (folder / "added" / "notes.txt").write_text("mine")
    registry = ModelRegistry.load(folder)
    assert list(registry.styles) == ["a"]
    assert registry.lost == {}


def test_a_damaged_weight_file_makes_it_unusable_with_the_reason(shelf: Shelf) -> None:
    folder = shelf(style("a"))
    (put(folder, "mine") / "own.onnx").write_bytes(b"mime")
    registry = ModelRegistry.load(folder)
    assert registry.usable == ("a",)
    assert "own.onnx is another file than the one described" in (registry.styles["mine"].reason or "")


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "a missing key": ({"halo": None}, "Style mine has no halo."),
    "an unknown key": ({"halos": 3}, "Style mine has an unknown key: halos."),
    "another id": ({"id": "other"}, "Added style mine: its card calls it other; folder and id must be the same."),
    "surroundings that are not there": (
        {"kind": "face", "surroundings": "gone"},
        "Style mine: surroundings names no style: gone.",
    ),
    "a file outside its folder": ({"variants": {"fp32": described("../../a.onnx", b"a")}}, "must lie in"),
}


@pytest.mark.parametrize(("changes", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_a_wrong_card_loses_that_style_alone(shelf: Shelf, changes: dict[str, Any], sentence: str) -> None:
    folder = shelf(style("a"))
    put(folder, "mine", **changes)
    put(folder, "whole")
    registry = ModelRegistry.load(folder)
    assert list(registry.styles) == ["a", "whole"]
    assert list(registry.lost) == ["mine"]
    assert sentence in registry.lost["mine"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"[broken", r"its card\.toml is not valid TOML"), (b"\xff\xfe", "is not valid TOML"), (None, "cannot be read")],
    ids=["no TOML", "no text", "no card"],
)
def test_a_card_that_cannot_be_read_loses_that_style_alone(shelf: Shelf, content: bytes | None, sentence: str) -> None:
    folder = shelf(style("a"))
    card = put(folder, "mine") / "card.toml"
    card.unlink() if content is None else card.write_bytes(content)
    registry = ModelRegistry.load(folder)
    assert list(registry.styles) == ["a"]
    assert re.search(sentence, registry.lost["mine"])
    assert str(folder) not in registry.lost["mine"]


def test_a_built_in_style_keeps_its_id(shelf: Shelf) -> None:
    folder = shelf(style("a"))
    put(folder, "a")
    registry = ModelRegistry.load(folder)
    assert not registry.styles["a"].added
    assert registry.lost == {"a": "Added style a: a built-in style is called so."}


def test_an_added_face_style_may_stand_in_an_added_scene(shelf: Shelf) -> None:
    folder = shelf(style("a"))
    put(folder, "portrait", kind="face", surroundings="scene")
    put(folder, "scene")
    assert ModelRegistry.load(folder).card("portrait").surroundings == "scene"


def test_they_can_serve_alone_where_no_built_in_file_is_whole(shelf: Shelf) -> None:
    folder = shelf(style("a"))
    (folder / "a.onnx").unlink()
    put(folder, "mine")
    assert ModelRegistry.load(folder).usable == ("mine",)


def test_where_nothing_is_left_their_reasons_are_told_too(shelf: Shelf) -> None:
    folder = shelf(style("a"))
    (folder / "a.onnx").unlink()
    put(folder, "mine", halo=None)
    with pytest.raises(NoUsableStyle, match=r"a\.onnx is missing.*Style mine has no halo"):
        ModelRegistry.load(folder)
    assert list(ModelRegistry.read(folder).styles) == ["a"]
