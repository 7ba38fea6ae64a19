"""The catalogue that is shipped, and what a wrong one is told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from app.config import PROJECT_ROOT
from app.errors import ModelError
from app.library.catalogue import Entry, read_catalogue
from app.library.inspection import Wishes
from tests.unit.inference.test_registry import as_toml

SHIPPED = read_catalogue(PROJECT_ROOT / "models" / "catalogue.toml")

WORDS = {"en": "Name", "zh": "名称", "ja": "名前"}


def model(name: str = "one", **changes: Any) -> dict[str, Any]:
    """A whole ``[[models]]`` table; a change to None takes the key away."""
    table = {
        "id": name,
        "title": dict(WORDS),
        "description": dict(WORDS),
        "kind": "scene",
        "family": "AnimeGAN",
        "page": "https://example.org/model",
        "licence": {"id": "CC0-1.0", "sentence": "Free for all."},
        "commercial": True,
        "format": "onnx",
        "face_size": 512,
        "files": [{"url": "https://example.org/files/network.onnx"}],
    } | changes
    return {key: value for key, value in table.items() if value is not None}


def written(folder: Path, *models: dict[str, Any]) -> Path:
    path = folder / "catalogue.toml"
    path.write_text(as_toml({"models": list(models)}), encoding="utf-8")
    return path


class TestTheShippedCatalogue:
    def test_has_what_the_manual_promises(self) -> None:
        assert {entry.family for entry in SHIPPED.values()} == {"AnimeGANv3", "AnimeGANv2", "White-box"}
        assert {"animeganv3-hayao", "animeganv3-shinkai", "animeganv3-portrait-sketch"} <= set(SHIPPED)
        assert {"animeganv2-face-paint-v1", "animeganv2-face-paint-v2", "animeganv2-paprika"} <= set(SHIPPED)

    @pytest.mark.parametrize("entry", SHIPPED.values(), ids=SHIPPED.keys())
    def test_promises_nobody_commercial_use(self, entry: Entry) -> None:
        """Every one of them builds on work whose author forbids it."""
        assert not entry.commercial
        assert re.search("commercial", entry.licence.sentence)

    @pytest.mark.parametrize("entry", SHIPPED.values(), ids=SHIPPED.keys())
    def test_points_to_the_authors_own_pages(self, entry: Entry) -> None:
        owner = r"https://github\.com/(TachibanaYoshino|bryandlee|SystemErrorWang)/"
        assert re.match(owner, entry.page)
        assert all(re.match(owner, file.url) for file in entry.files)

    def test_names_no_address_twice(self) -> None:
        urls = [file.url for entry in SHIPPED.values() for file in entry.files]
        assert len(urls) == len(set(urls))

    def test_says_what_no_look_would_find(self) -> None:
        assert SHIPPED["white-box"].wishes.channel_order == "BGR"
        assert SHIPPED["animeganv3-hayao"].wishes == Wishes(channel_order="RGB")


def test_a_file_is_called_as_at_the_end_of_its_address(tmp_path: Path) -> None:
    url = "https://example.org/a/My%20Network.onnx?download=1"
    entry = read_catalogue(written(tmp_path, model(files=[{"url": url}])))["one"]
    assert entry.files[0].name == "My Network.onnx"


def test_a_face_model_stands_in_the_scenery_it_is_given(tmp_path: Path) -> None:
    entries = read_catalogue(written(tmp_path, model("scene"), model("face", kind="face")))
    assert entries["face"].about("hayao").surroundings == "hayao"
    assert entries["scene"].about("hayao").surroundings is None


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown key": (model(urls=[]), "Model one has an unknown key: urls."),
    "neither files nor a page": (model(files=None), "Model one must have either files or by_hand."),
    "both": (model(by_hand="a.onnx"), "Model one must have either files or by_hand."),
    "a page that is not encrypted": (model(page="http://example.org"), "it must be an https address"),
    "a file that is not encrypted": (model(files=[{"url": "http://example.org/a"}]), "it must be an https address"),
    "an address of no file": (model(files=[{"url": "https://example.org/"}]), "must end in the name of a file"),
    "an address that climbs": (model(files=[{"url": "https://example.org/a/.."}]), "must end in the name of a file"),
    "a short SHA-256": (model(files=[{"url": "https://example.org/a", "sha256": "12"}]), "must be 64 digits"),
    "an unknown order": (model(channel_order="GRB"), "channel_order is RGB or BGR"),
    "an unknown format": (model(format="keras"), "it is one of onnx, pytorch, tensorflow"),
    "a title in one language": (model(title={"en": "A"}), "has no zh"),
}


@pytest.mark.parametrize(("table", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_entry_is_told_in_words(tmp_path: Path, table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ModelError, match=re.escape(sentence)):
        read_catalogue(written(tmp_path, table))


def test_two_models_of_one_id_are_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Two models of the catalogue are called one"):
        read_catalogue(written(tmp_path, model(), model()))


@pytest.mark.parametrize(("content", "sentence"), [(None, "cannot be read"), (b"[[models", "is not valid TOML")])
def test_a_catalogue_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "catalogue.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=sentence):
        read_catalogue(path)
