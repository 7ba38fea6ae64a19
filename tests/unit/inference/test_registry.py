"""models.toml: what is read, what is refused in words, and what a bad weight file spoils."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from app.errors import ModelError, NoUsableStyle
from app.imaging.sizing import SizeRequirements
from app.inference.card import Licence
from app.inference.registry import ModelRegistry

BUILT_IN = Path(__file__).parents[3] / "models"

WORDS = {"en": "Name", "zh": "名称", "ja": "名前"}

LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:8869f3fe\nsize 1952564\n"


def described(file: str, content: bytes) -> dict[str, Any]:
    return {"file": file, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def verified(variant: dict[str, Any], against: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """``variant`` with the result of a judgement by ``against``, the style's fp32."""
    result = {
        "against": "fp32",
        "sha256": variant["sha256"],
        "against_sha256": against["sha256"],
        "date": date(2026, 11, 30),
        "command": "python -m tools.verify a a:int8",
        "pictures": 15,
        "size": 512,
        "ssim": 0.99,
        "psnr": 48.5,
        "color": 0.6,
        "banding": 0.2,
        "worst_ssim": 0.98,
        "worst_banding": 0.4,
        "time": {"x86_64-vnni": 0.4},
    }
    return variant | {"verified": result | changes}


def style(name: str, **changes: Any) -> dict[str, Any]:
    """A whole ``[[styles]]`` table; the weights are its name in bytes. A change to None takes the key away."""
    table = {
        "id": name,
        "title": dict(WORDS),
        "description": dict(WORDS),
        "kind": "scene",
        "family": "lite",
        "source": "https://example.org/weights",
        "licence": {"id": "CC0-1.0", "sentence": "Free for all."},
        "commercial": True,
        "layout": "NCHW",
        "input_name": "in",
        "output_name": "out",
        "input_range": [-1, 1.0],
        "output_range": [0.0, 1.0],
        "channel_order": "BGR",
        "multiple_of": 16,
        "minimum": 32,
        "local": False,
        "halo": 48,
        "face_size": 256,
        "variants": {"fp32": described(f"{name}.onnx", name.encode())},
    } | changes
    return {key: value for key, value in table.items() if value is not None}


def detector(file: str = "face.tflite") -> dict[str, Any]:
    return described(file, b"face") | {"licence": "Apache-2.0", "origin": "somewhere"}


def as_toml(content: dict[str, Any]) -> str:
    """TOML of ``content``: inline tables and JSON's texts, lists and numbers are valid in both."""
    return "".join(f"{key} = {_inline(value)}\n" for key, value in content.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


Shelf = Callable[..., Path]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Writes a models folder: models.toml and a whole file for each style and detector in it."""

    def write(*styles: dict[str, Any], **rest: Any) -> Path:
        (tmp_path / "models.toml").write_text(as_toml({"styles": list(styles)} | rest), encoding="utf-8")
        for table in styles:
            for variant in table["variants"].values():
                _write_weights(tmp_path / Path(variant["file"]).name, str(table.get("id")).encode())
        (tmp_path / "face.tflite").write_bytes(b"face")
        return tmp_path

    return write


def _write_weights(path: Path, content: bytes) -> None:
    if path.name not in ("", ".."):
        path.write_bytes(content)


class TestTheBuiltInModels:
    @pytest.fixture(scope="class")
    @staticmethod
    def registry() -> ModelRegistry:
        return ModelRegistry.load(BUILT_IN, with_added=False)

    def test_every_style_is_usable(self, registry: ModelRegistry) -> None:
        assert registry.usable == ("hayao", "shinkai", "cute", "ink")

    @pytest.mark.parametrize("variant", ["fp32", "fp16", "int8", "small"])
    def test_every_variant_is_there_and_whole(self, variant: str) -> None:
        registry = ModelRegistry.load(BUILT_IN, variant=variant, with_added=False)
        assert {style.reason for style in registry.styles.values()} == {None}
        assert len({style.path for style in registry.styles.values()}) == len(registry.styles)

    def test_every_detector_is_usable(self, registry: ModelRegistry) -> None:
        assert {name: model.reason for name, model in registry.detectors.items()} == {
            "short_range": None,
            "full_range": None,
        }
        assert {model.licence for model in registry.detectors.values()} == {"Apache-2.0"}

    def test_the_face_style_stands_in_scenery(self, registry: ModelRegistry) -> None:
        assert registry.card("cute").surroundings == "hayao"

    def test_what_is_learnt_from_others_is_not_sold(self, registry: ModelRegistry) -> None:
        sold = {name for name, style in registry.styles.items() if style.card.commercial}
        assert sold == {"ink"}
        assert all(registry.card(name).source for name in registry.styles.keys() - sold)

    def test_every_weight_file_is_named_in_models_toml_and_in_a_card(self, registry: ModelRegistry) -> None:
        named = {file.file for style in registry.styles.values() for file in style.card.variants.values()}
        named |= {model.path.relative_to(BUILT_IN).as_posix() for model in registry.detectors.values()}
        shipped = {path.relative_to(BUILT_IN).as_posix() for path in _weights(BUILT_IN)}
        assert shipped == named
        cards = "".join(path.read_text(encoding="utf-8") for path in BUILT_IN.rglob("*.md"))
        assert [file for file in sorted(shipped) if Path(file).name not in cards] == []


def _weights(folder: Path) -> Iterator[Path]:
    """Those of the project: what its owner added or pulled is not shipped."""
    own = (folder / "added", folder / "pulled")
    found = (path for path in folder.rglob("*") if path.suffix in (".onnx", ".tflite"))
    return (path for path in found if not any(path.is_relative_to(place) for place in own))


class TestACard:
    def test_says_what_models_toml_says(self, shelf: Shelf) -> None:
        card = ModelRegistry.load(shelf(style("a"))).card("a")
        assert card.title["ja"] == "名前"
        assert card.licence == Licence("CC0-1.0", "Free for all.")
        assert card.sizes == SizeRequirements(multiple_of=16, minimum=32)
        assert (card.input_range, card.output_range) == ((-1.0, 1.0), (0.0, 1.0))
        assert (card.channel_order, card.layout, card.halo, card.face_size) == ("BGR", "NCHW", 48, 256)
        assert (card.kind, card.surroundings, card.commercial, card.local) == ("scene", None, True, False)

    def test_may_have_fixed_sides(self, shelf: Shelf) -> None:
        card = ModelRegistry.load(shelf(style("a", fixed=[512, 256]))).card("a")
        assert card.sizes.fixed == (512, 256)

    def test_cannot_be_changed(self, shelf: Shelf) -> None:
        card = ModelRegistry.load(shelf(style("a"))).card("a")
        with pytest.raises(AttributeError):
            card.halo = 3  # type: ignore[misc]
        with pytest.raises(TypeError):
            card.title["en"] = "Other"  # type: ignore[index]

    def test_a_variant_it_lacks_is_the_first_one(self, shelf: Shelf) -> None:
        folder = shelf(style("a", variants=two_variants()))
        registries = {name: _registry(folder, name) for name in ("int8", "fp16")}
        assert {name: registry.styles["a"].path.name for name, registry in registries.items()} == {
            "int8": "a8.onnx",
            "fp16": "a.onnx",
        }
        assert {registry.styles["a"].note for registry in registries.values()} == {None}

    def test_a_variant_without_a_verify_result_is_not_offered_and_that_is_said(self, shelf: Shelf) -> None:
        variants = {"fp32": described("a.onnx", b"a"), "int8": described("a8.onnx", b"a")}
        registry = _registry(shelf(style("a", variants=variants), style("b")), "int8")
        offered = registry.styles["a"]
        assert offered.path.name == "a.onnx"
        assert offered.usable
        assert offered.note == (
            "Style a: a.onnx is used in place of int8, because its card holds no verify result for it."
        )
        assert registry.notes == (offered.note,)

    def test_says_how_a_variant_was_judged(self, shelf: Shelf) -> None:
        card = ModelRegistry.load(shelf(style("a", variants=two_variants()))).card("a")
        assert card.variants["fp32"].verified is None
        result = card.variants["int8"].verified
        assert result is not None
        assert (result.against, result.ssim, result.date, result.time["x86_64-vnni"]) == (
            "fp32",
            0.99,
            date(2026, 11, 30),
            0.4,
        )


def two_variants(**changes: Any) -> dict[str, Any]:
    """fp32, and an int8 that was judged by it."""
    first, second = described("a.onnx", b"a"), described("a8.onnx", b"a")
    return {"fp32": first, "int8": verified(second, first, **changes)}


def _registry(folder: Path, variant: str) -> ModelRegistry:
    return ModelRegistry.load(folder, variant=variant, processor="x86_64-vnni")


WRONG_STYLES: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown key": (style("a", halos=3), "Style a has an unknown key: halos."),
    "a missing key": (style("a", halo=None), "Style a has no halo."),
    "no id": (style("a", id=None), "Style number 1 has no id."),
    "an id for no address": (style("a b"), "cannot be “a b”: small letters, digits, - and _ only"),
    "a number as text": (style("a", halo="48"), "Style a: halo must be a whole number."),
    "true as a number": (style("a", halo=True), "Style a: halo must be a whole number."),
    "a number as true": (style("a", local=1), "Style a: local must be true or false."),
    "a negative number": (style("a", halo=-1), "Style a: halo must be at least 0."),
    "a multiple of nothing": (style("a", multiple_of=0), "Style a: multiple_of must be at least 1."),
    "an empty text": (style("a", family=""), "Style a: family must not be empty."),
    "an unknown layout": (style("a", layout="CHWN"), "layout cannot be “CHWN”: it is one of NCHW, NHWC."),
    "an unknown kind": (style("a", kind="animal"), "it is one of scene, face"),
    "an unknown channel order": (style("a", channel_order="GBR"), "it is one of RGB, BGR"),
    "a range of one number": (style("a", input_range=[1]), "Style a: input_range must be two numbers."),
    "a range of texts": (style("a", input_range=["0", "1"]), "Style a: input_range must be two numbers."),
    "a falling range": (style("a", output_range=[1, -1]), "Style a: output_range must rise."),
    "one fixed side": (style("a", fixed=[512]), "Style a: fixed must be a width and a height"),
    "fixed sides that do not divide": (style("a", fixed=[512, 250]), "multiples of multiple_of"),
    "a title in one language": (style("a", title={"en": "A"}), "Style a, title, has no zh."),
    "a title in four": (style("a", title=WORDS | {"de": "A"}), "Style a, title, has an unknown key: de."),
    "a title for all": (style("a", title="A"), "Style a: title must be a table."),
    "a licence without words": (style("a", licence={"id": "MIT"}), "Style a, licence, has no sentence."),
    "a source that is no address": (style("a", source="file:///a"), "it must be an https address"),
    "no variants": (style("a", variants={}), "Style a: variants must name at least one file."),
    "a short SHA-256": (style("a", variants={"fp32": described("a", b"") | {"sha256": "12"}}), "64 digits"),
    "a verify result with a text for a number": (
        style("a", variants=two_variants(ssim="good")),
        "ssim must be a number with a point",
    ),
    "a verify result with a misspelt key": (style("a", variants=two_variants(simm=0.9)), "unknown key: simm"),
    "an empty file": (style("a", variants={"fp32": described("a", b"")}), "bytes must be at least 1"),
    "surroundings that are not there": (
        style("a", kind="face", surroundings="b"),
        "Style a: surroundings names no style: b.",
    ),
    "surroundings of scenery": (style("a", surroundings="a"), "Style a: only a face style has surroundings."),
    "surroundings that are a face style": (
        style("a", kind="face", surroundings="a"),
        "surroundings must be a scene style, and a is for faces",
    ),
}


class TestWhatIsRefused:
    @pytest.mark.parametrize(("table", "sentence"), WRONG_STYLES.values(), ids=WRONG_STYLES.keys())
    def test_a_style_with(self, shelf: Shelf, table: dict[str, Any], sentence: str) -> None:
        with pytest.raises(ModelError, match=re.escape(sentence)):
            ModelRegistry.load(shelf(table))

    @pytest.mark.parametrize("file", ["../a.onnx", "/etc/passwd", "x/../../a", "..", "c:\\a.onnx", "..\\a.onnx", "c:a"])
    def test_a_file_outside_the_models_folder(self, shelf: Shelf, file: str) -> None:
        table = style("a", variants={"fp32": described(file, b"a")})
        with pytest.raises(ModelError, match="must lie in the models folder"):
            ModelRegistry.load(shelf(table))

    def test_two_styles_of_one_id(self, shelf: Shelf) -> None:
        with pytest.raises(ModelError, match=r"Two styles are called a\."):
            ModelRegistry.load(shelf(style("a"), style("a")))

    def test_a_detector_with_an_unknown_key(self, shelf: Shelf) -> None:
        with pytest.raises(ModelError, match=r"Face detector near has an unknown key: size\."):
            ModelRegistry.load(shelf(style("a"), face_detectors={"near": detector() | {"size": 1}}))

    def test_an_unknown_table(self, shelf: Shelf) -> None:
        with pytest.raises(ModelError, match=r"models\.toml has an unknown key: style\."):
            ModelRegistry.load(shelf(style("a"), style={}))

    def test_styles_that_are_no_list(self, shelf: Shelf) -> None:
        with pytest.raises(ModelError, match="styles must be a list"):
            ModelRegistry.load(shelf(styles={}))

    def test_a_missing_models_toml(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="cannot be read: without it there are no styles"):
            ModelRegistry.load(tmp_path)

    @pytest.mark.parametrize("content", [b"[[styles", b"\xff\xfe"])
    def test_a_models_toml_that_is_not_toml(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "models.toml").write_bytes(content)
        with pytest.raises(ModelError, match="is not valid TOML"):
            ModelRegistry.load(tmp_path)

    def test_one_wrong_style_among_good_ones_ends_the_load(self, shelf: Shelf) -> None:
        with pytest.raises(ModelError, match="Style b has no halo"):
            ModelRegistry.load(shelf(style("a"), style("b", halo=None)))


BAD_FILES: dict[str, tuple[bytes | None, str]] = {
    "missing": (None, "Style b: b.onnx is missing."),
    "zero bytes": (b"", "Style b: b.onnx is empty."),
    "a Git LFS pointer": (LFS_POINTER.encode(), "Style b: b.onnx is a Git LFS pointer, not the file itself"),
    "cut short": (b"bb", "Style b: b.onnx has 2 bytes instead of 1: fetch it again."),
    "another file of the same size": (b"c", "is another file than the one described (its SHA-256 differs)"),
}


@pytest.mark.parametrize(("content", "sentence"), BAD_FILES.values(), ids=BAD_FILES.keys())
class TestABadWeightFile:
    @staticmethod
    def spoil(folder: Path, content: bytes | None) -> Path:
        (folder / "b.onnx").unlink()
        if content is not None:
            (folder / "b.onnx").write_bytes(content)
        return folder

    def test_spoils_its_own_style_alone(self, shelf: Shelf, content: bytes | None, sentence: str) -> None:
        registry = ModelRegistry.load(self.spoil(shelf(style("a"), style("b")), content))
        assert registry.usable == ("a",)
        assert list(registry.styles) == ["a", "b"]
        assert sentence in (registry.styles["b"].reason or "")
        assert not registry.styles["b"].usable

    def test_ends_the_load_where_no_other_style_works(self, shelf: Shelf, content: bytes | None, sentence: str) -> None:
        with pytest.raises(NoUsableStyle, match=re.escape(sentence)):
            ModelRegistry.load(self.spoil(shelf(style("b")), content))

    def test_is_told_without_the_folders_path(self, shelf: Shelf, content: bytes | None, sentence: str) -> None:
        folder = self.spoil(shelf(style("a"), style("b")), content)
        assert str(folder) not in (ModelRegistry.load(folder).styles["b"].reason or "")


def test_a_folder_in_place_of_a_file_is_told_in_words(shelf: Shelf) -> None:
    folder = shelf(style("a"), style("b"))
    (folder / "b.onnx").unlink()
    (folder / "b.onnx").mkdir()
    assert ModelRegistry.load(folder).styles["b"].reason == "Style b: b.onnx cannot be read."


def test_only_the_variant_in_use_is_checked(shelf: Shelf) -> None:
    folder = shelf(style("a", variants=two_variants()))
    (folder / "a8.onnx").unlink()
    assert ModelRegistry.load(folder).usable == ("a",)


def test_a_bad_detector_is_told_and_leaves_the_styles_alone(shelf: Shelf) -> None:
    folder = shelf(style("a"), face_detectors={"near": detector(), "far": detector("far.tflite")})
    registry = ModelRegistry.load(folder)
    assert registry.usable == ("a",)
    assert registry.detectors["near"].reason is None
    assert registry.detectors["far"].reason == "Face detector far: far.tflite is missing."


def test_no_styles_at_all_is_no_usable_style(shelf: Shelf) -> None:
    with pytest.raises(NoUsableStyle, match="no styles"):
        ModelRegistry.load(shelf())


def test_loading_reads_and_writes_nothing_else(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(BUILT_IN, tmp_path / "models"))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    ModelRegistry.load(folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_cards_are_read_without_onnxruntime() -> None:
    """Styles are listed, and files checked, in processes that never run a network."""
    code = "import sys, app.inference.registry; sys.exit('onnxruntime' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=BUILT_IN.parent, check=False).returncode == 0


@pytest.mark.parametrize("variant", ["fp32", "fp16"])
def test_a_style_tells_which_weights_it_uses(variant: str) -> None:
    style = ModelRegistry.load(BUILT_IN, variant=variant, with_added=False).styles["hayao"]
    name, digest = style.weights_in_use
    assert style.card.variants[name].sha256 == digest
    assert hashlib.sha256(style.path.read_bytes()).hexdigest() == digest


def preset(name: str, **changes: Any) -> dict[str, Any]:
    """A whole ``[[presets]]`` table of the style "a". A change to None takes the key away."""
    table = {"id": name, "title": dict(WORDS), "description": dict(WORDS), "style": "a", "face": "only"} | changes
    return {key: value for key, value in table.items() if value is not None}


class TestPresets:
    def test_are_of_the_style_they_name(self, shelf: Shelf) -> None:
        registry = ModelRegistry.load(shelf(style("a"), presets=[preset("p"), preset("q", face="off")]))
        assert list(registry.styles) == ["a"]
        assert {name: (found.style, found.face) for name, found in registry.presets.items()} == {
            "p": ("a", "only"),
            "q": ("a", "off"),
        }

    @pytest.mark.parametrize(
        ("table", "sentence"),
        [
            (preset("a"), "Two styles are called a."),
            (preset("p", style="b"), "Preset p: style names no style: b."),
            (preset("p", face="some"), "Preset p: face cannot be “some”: it is one of auto, off, only."),
            (preset("P"), "Preset number 1: id cannot be “P”: small letters, digits, - and _ only."),
            (preset("p", face=None), "Preset p has no face."),
            (preset("p", size=3), "Preset p has an unknown key: size."),
        ],
    )
    def test_are_refused_with(self, shelf: Shelf, table: dict[str, Any], sentence: str) -> None:
        with pytest.raises(ModelError, match=re.escape(sentence)):
            ModelRegistry.load(shelf(style("a"), presets=[table]))

    def test_of_one_id_are_refused(self, shelf: Shelf) -> None:
        with pytest.raises(ModelError, match="Two styles are called p"):
            ModelRegistry.load(shelf(style("a"), presets=[preset("p"), preset("p")]))
