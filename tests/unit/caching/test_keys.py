"""Two requests have one key only if nothing that shows in the answer differs."""

from __future__ import annotations

import re
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest

from app.caching.keys import KeyMaker, Keys, pipeline_version
from app.config import PROJECT_ROOT
from app.conversion import FINISHING_OPTIONS
from app.inference.registry import ModelRegistry
from app.options import ConvertOptions
from tests.unit.stubs import REGISTRY, card

DATA = b"an upload"
OPTIONS = ConvertOptions(style="cute", size=768)
OTHER = {"style": "hayao", "face": "off", "size": 512, "strength": 99, "format": "jpeg", "quality": 50}


def maker(registry: ModelRegistry = REGISTRY, around: object = "cpu") -> KeyMaker:
    return KeyMaker(registry, [around])


def keys(
    data: bytes = DATA, options: ConvertOptions = OPTIONS, *, faces: bool = True, by: KeyMaker | None = None
) -> Keys:
    return (by or maker()).keys(data, options, faces=faces)


def with_weights(style: str, sha256: str) -> ModelRegistry:
    """The registry, but for other weights of ``style`` under the same name."""
    old = REGISTRY.styles[style]
    variants = {name: replace(file, sha256=sha256) for name, file in old.card.variants.items()}
    changed = replace(old, card=replace(old.card, variants=variants))
    return replace(REGISTRY, styles={**REGISTRY.styles, style: changed})


def test_the_same_is_the_same_in_every_process() -> None:
    assert keys() == keys()


def test_a_key_is_a_hash_and_tells_nothing() -> None:
    for key in (keys().answer, keys().drawing):
        assert re.fullmatch(r"[0-9a-f]{64}", key)


def test_an_answer_is_no_drawing() -> None:
    assert keys().answer != keys().drawing


def test_another_upload_has_other_keys() -> None:
    assert keys(b"another").answer != keys().answer
    assert keys(b"another").drawing != keys().drawing


@pytest.mark.parametrize("option", [item.name for item in fields(ConvertOptions)])
def test_every_option_is_in_the_answers_key_and_all_but_the_finishing_ones_in_the_drawings(option: str) -> None:
    other = keys(options=replace(OPTIONS, **{option: OTHER[option]}))
    assert other.answer != keys().answer
    assert (other.drawing == keys().drawing) == (option in FINISHING_OPTIONS)


@pytest.mark.parametrize("face", ["auto", "only"])
def test_what_was_made_while_faces_could_not_be_found_is_not_given_later(face: str) -> None:
    options = replace(OPTIONS, face=face)
    assert keys(options=options, faces=False).answer != keys(options=options).answer
    assert keys(options=options, faces=False).drawing != keys(options=options).drawing


def test_where_faces_are_not_looked_for_it_does_not_matter_whether_they_could_be() -> None:
    options = replace(OPTIONS, face="off")
    assert keys(options=options, faces=False) == keys(options=options)


@pytest.mark.parametrize("style", ["cute", "hayao"])
def test_other_weights_of_the_style_or_of_its_surroundings_have_other_keys(style: str) -> None:
    by = maker(with_weights(style, "0" * 64))
    assert keys(by=by).answer != keys().answer
    assert keys(by=by).drawing != keys().drawing


def test_a_style_does_not_depend_on_one_that_it_does_not_use() -> None:
    options = replace(OPTIONS, style="hayao")
    assert keys(options=options, by=maker(with_weights("cute", "0" * 64))) == keys(options=options)


def test_the_variant_that_is_picked_counts_not_those_that_are_there() -> None:
    int8 = ModelRegistry.load(PROJECT_ROOT / "models", variant="fp16", processor="x86_64-vnni", with_added=False)
    assert int8.styles["hayao"].sha256 == card("hayao").variants["fp16"].sha256
    assert keys(by=maker(int8)).answer != keys().answer


def test_other_detectors_have_other_keys_where_faces_are_looked_for() -> None:
    detectors = {name: replace(model, sha256="0" * 64) for name, model in REGISTRY.detectors.items()}
    by = maker(replace(REGISTRY, detectors=detectors))
    assert keys(by=by).answer != keys().answer
    off = replace(OPTIONS, face="off")
    assert keys(options=off, by=by) == keys(options=off)


def test_what_a_card_says_counts() -> None:
    old = REGISTRY.styles["cute"]
    changed = replace(old, card=replace(old.card, face_size=256))
    by = maker(replace(REGISTRY, styles={**REGISTRY.styles, "cute": changed}))
    assert keys(by=by).answer != keys().answer


def test_what_goes_on_around_counts() -> None:
    assert keys(by=maker(around="cuda")).answer != keys().answer


def test_the_version_changes_with_any_source_that_makes_pictures(tmp_path: Path) -> None:
    shutil.copytree(PROJECT_ROOT / "app", tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__"))
    assert pipeline_version(tmp_path / "app") == pipeline_version(PROJECT_ROOT / "app")
    seen = {pipeline_version(tmp_path / "app")}
    for name in ("conversion.py", "imaging/blend.py", "imaging/containers/png.py", "inference/painter.py"):
        source = tmp_path / "app" / name
        source.write_text(source.read_text() + "# changed\n")
        seen.add(pipeline_version(tmp_path / "app"))
    assert len(seen) == 5


def test_the_version_changes_with_the_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pipeline_version()
    monkeypatch.setattr("app.caching.keys.metadata.version", lambda name: "0")
    assert pipeline_version() != before
