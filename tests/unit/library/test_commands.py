"""``python -m app models``: what a person types, reads and finds afterwards."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from app.__main__ import main
from app.config import PROJECT_ROOT
from app.engine import Engine
from app.inference.registry import ModelRegistry
from tests.unit.inference.test_added import put
from tests.unit.inference.test_registry import as_toml
from tests.unit.library import networks
from tests.unit.library.networks import as_ort
from tests.unit.library.server import Web, not_found, whole
from tests.unit.library.test_catalogue import model
from tests.unit.stubs import photo, pixels, png

Run = Callable[..., Result]


@pytest.fixture
def run(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ANIMEBOOTH_MODELS_DIR", str(models_dir))

    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(main, ["models", *map(str, arguments)], catch_exceptions=False)

    return invoke


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failed(result: Result) -> str:
    """The one sentence of a command that failed."""
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    return result.stderr.strip().splitlines()[-1]


@pytest.fixture
def offered(models_dir: Path, web: Web, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a catalogue of one model, ``far``, into the models folder; its files are on the web server."""

    def offer(name: str, script: object, **changes: object) -> None:
        url = web.put(f"/{name}", script)  # type: ignore[arg-type]
        table = model("far", files=[{"url": url.replace("http://", "https://")}], **changes)
        (models_dir / "catalogue.toml").write_text(as_toml({"models": [table]}))

    # The catalogue takes https addresses alone; the server of the test speaks http to this machine.
    from app.library import pull

    fetch = pull.fetch
    monkeypatch.setattr(pull, "fetch", lambda url, *rest: fetch(url.replace("https://127", "http://127"), *rest))
    return offer


class TestAdd:
    def test_makes_a_style_of_a_file_and_shows_the_evidence(self, run: Run, models_dir: Path, tmp_path: Path) -> None:
        result = run("add", networks.looking(tmp_path / "My Own.onnx", 20))
        assert result.exit_code == 0
        assert re.search(r"^layout +NCHW +\(the input is 1 x 3 x any x any;", result.stdout, re.MULTILINE)
        assert re.search(r"^halo +32 px", result.stdout, re.MULTILINE)
        assert "Added style my-own (scene)." in result.stderr
        style = ModelRegistry.load(models_dir).styles["my-own"]
        assert style.usable
        assert style.card.title == {"en": "My Own", "zh": "My Own", "ja": "My Own"}
        assert style.card.licence.id == "LicenseRef-Unknown"
        assert not style.card.commercial
        assert "# halo 32 px" in (models_dir / "added" / "my-own" / "card.toml").read_text()

    def test_takes_every_option(self, run: Run, models_dir: Path, tmp_path: Path) -> None:
        options = {
            "--id": "mine",
            "--title": "Mine",
            "--description": "Drawn by me.",
            "--kind": "face",
            "--surroundings": "hayao",
            "--family": "me",
            "--source": "https://example.org/mine",
            "--licence": "CC-BY-4.0",
            "--licence-sentence": "Name me.",
            "--face-size": "256",
            "--layout": "NCHW",
            "--output-name": "output",
            "--input-range": ("0", "255"),
            "--output-range": ("-1", "255"),
            "--channel-order": "BGR",
            "--multiple-of": "16",
            "--minimum": "64",
            "--halo": "24",
        }
        typed = [part for name, value in options.items() for part in (name, *np.atleast_1d(value))]
        result = run("add", networks.identity(tmp_path / "a.onnx"), *typed, "--commercial", "--not-local")
        assert result.exit_code == 0, result.stderr
        card = ModelRegistry.load(models_dir).card("mine")
        assert set(card.title.values()) == {"Mine"}
        assert set(card.description.values()) == {"Drawn by me."}
        assert (card.kind, card.surroundings, card.family, card.source) == (
            "face",
            "hayao",
            "me",
            "https://example.org/mine",
        )
        assert (card.licence.id, card.licence.sentence, card.commercial) == ("CC-BY-4.0", "Name me.", True)
        assert (card.input_range, card.output_range, card.channel_order) == ((0.0, 255.0), (-1.0, 255.0), "BGR")
        assert (card.sizes.multiple_of, card.sizes.minimum, card.local, card.halo) == (16, 64, False, 24)

    def test_puts_scenery_around_a_face_style_that_names_none(self, run: Run, models_dir: Path, tmp_path: Path) -> None:
        result = run("add", networks.identity(tmp_path / "a.onnx"), "--kind", "face")
        assert "with hayao around the faces" in result.stderr
        assert ModelRegistry.load(models_dir).card("a").surroundings == "hayao"

    def test_takes_what_the_catalogue_knows(self, run: Run, models_dir: Path, tmp_path: Path) -> None:
        result = run("add", networks.identity(tmp_path / "a.onnx"), "--as", "animeganv2-paprika", "--title", "Pepper")
        assert result.exit_code == 0, result.stderr
        card = ModelRegistry.load(models_dir).card("animeganv2-paprika")
        assert (card.family, card.licence.id) == ("AnimeGANv2", "LicenseRef-AnimeGANv2-NonCommercial")
        assert card.title["ja"] == "Pepper"
        assert card.description["ja"] != card.description["en"]

    def test_draws_with_the_style_at_once(self, run: Run, tmp_path: Path) -> None:
        picture = photo(80, 64)
        run("add", networks.identity(tmp_path / "same.onnx"))
        answer = Engine.from_settings().convert(png(picture), style="same", face="off", format="png")
        assert np.array_equal(pixels(answer.image), picture)

    def test_takes_a_file_of_onnx_runtimes_own_format_whatever_its_name(
        self, run: Run, models_dir: Path, tmp_path: Path
    ) -> None:
        file = as_ort(networks.looking(tmp_path / "a.onnx", 2), tmp_path / "b.ort").rename(tmp_path / "b.onnx")
        result = run("add", file)
        assert result.exit_code == 0, result.stderr
        assert ModelRegistry.load(models_dir).styles["b"].path.name == "b.ort"
        Engine.from_settings().convert(png(photo(80, 64)), style="b", face="off")

    REFUSED = {
        "a classifier": ((networks.classifier,), "cannot be a style: its output output is 1 x 3"),
        "an id that is taken": ((networks.identity, "--id", "cute"), "There is a style called cute already"),
        "an id that is none": ((networks.identity, "--id", "../x"), "is no id"),
        "a source that is no address": ((networks.identity, "--source", "ftp://x"), "it must be an https address"),
        "surroundings that are not there": (
            (networks.identity, "--kind", "face", "--surroundings", "gone"),
            "surroundings names no style: gone",
        ),
        "surroundings of scenery": ((networks.identity, "--surroundings", "hayao"), "only a face style has"),
        "a range that falls": ((networks.identity, "--input-range", "1", "-1"), "--input-range must rise"),
        "a model that is not in the catalogue": ((networks.identity, "--as", "gone"), "The catalogue has no gone"),
        "sides it does not run at": (
            (lambda path: networks.strided(path, 32), "--multiple-of", "8", "--minimum", "8"),
            "the network does not run as its card says",
        ),
    }

    @pytest.mark.parametrize(("typed", "sentence"), REFUSED.values(), ids=REFUSED.keys())
    def test_says_no_in_one_sentence_and_changes_nothing(
        self, run: Run, models_dir: Path, tmp_path: Path, typed: tuple, sentence: str
    ) -> None:
        make, *options = typed
        before = tree(models_dir)
        assert sentence in failed(run("add", make(tmp_path / "a.onnx"), *options))
        assert tree(models_dir) == before
        assert not (models_dir / "added").exists()

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (None, "a.onnx cannot be read: No such file or directory."),
            (b"", "a.onnx is empty."),
            (b"\x08\x08", "ONNX Runtime cannot load a.onnx: it is damaged"),
            (b"PK\x03\x04", "a.onnx is a PyTorch checkpoint"),
        ],
        ids=["missing", "empty", "truncated", "of another kind"],
    )
    def test_a_file_that_is_no_network_is_told_by_its_own_name(
        self, run: Run, models_dir: Path, tmp_path: Path, content: bytes | None, sentence: str
    ) -> None:
        path = tmp_path / "a.onnx"
        if content is not None:
            path.write_bytes(content)
        assert failed(run("add", path, "--id", "other")).startswith(sentence)
        assert not (models_dir / "added").exists()

    def test_a_full_disk_leaves_nothing_behind(self, models_dir: Path) -> None:
        """A limit on the size of files stands for the disk: writing fails in the middle of the weights."""
        code = (
            "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000));"
            "sys.argv = ['app', 'models', 'add', sys.argv[1], '--id', 'mine'];"
            "runpy.run_module('app', run_name='__main__')"
        )
        result = subprocess.run(
            [sys.executable, "-c", code, str(networks.HAYAO)],
            cwd=PROJECT_ROOT,
            env={"ANIMEBOOTH_MODELS_DIR": str(models_dir), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 2
        assert "File too large" in result.stderr.splitlines()[-1]
        assert "Traceback" not in result.stderr
        assert not (models_dir / "added").exists()


class TestPull:
    def test_fetches_an_onnx_file_and_makes_a_style_of_it(
        self, run: Run, models_dir: Path, offered: Callable[..., None], tmp_path: Path
    ) -> None:
        body = networks.identity(tmp_path / "a.onnx").read_bytes()
        offered("network.onnx", whole(body))
        result = run("pull", "far")
        assert result.exit_code == 0, result.stderr
        assert "Free for all." in result.stderr
        assert f"trusted and recorded: {hashlib.sha256(body).hexdigest()}" in result.stderr
        assert "network.onnx" in result.stderr
        style = ModelRegistry.load(models_dir).styles["far"]
        assert style.usable
        assert style.card.source == "https://example.org/model"
        assert sorted(tree(models_dir / "pulled")) == ["first-seen.json"]

    def test_of_a_style_that_is_here_does_nothing(
        self, run: Run, models_dir: Path, offered: Callable[..., None]
    ) -> None:
        offered("network.onnx", not_found)
        put(models_dir, "far")
        result = run("pull", "far")
        assert result.exit_code == 0
        assert "Style far is here already." in result.stderr

    def test_of_a_checkpoint_keeps_it_and_says_what_comes_next(
        self, run: Run, models_dir: Path, offered: Callable[..., None]
    ) -> None:
        offered("weights.pt", whole(b"PK\x03\x04 a checkpoint"), format="pytorch")
        result = run("pull", "far")
        assert result.exit_code == 0, result.stderr
        file = models_dir / "pulled" / "far" / "weights.pt"
        assert file.read_bytes() == b"PK\x03\x04 a checkpoint"
        assert f"`python -m tools.convert_checkpoint {file}`" in result.stderr
        assert "add FILE.onnx --as far" in result.stderr

    def test_of_a_file_that_is_no_network_keeps_the_file_and_adds_nothing(
        self, run: Run, models_dir: Path, offered: Callable[..., None]
    ) -> None:
        offered("network.onnx", whole(b"\x08\x08 no network"))
        sentence = failed(run("pull", "far"))
        assert "is damaged" in sentence
        assert "pulled/far/network.onnx" in sentence
        assert not (models_dir / "added").exists()

    def test_of_a_web_page_leaves_nothing_behind(
        self, run: Run, models_dir: Path, offered: Callable[..., None]
    ) -> None:
        offered("network.onnx", whole(b"<html>Sign in</html>"))
        assert "answers with a web page" in failed(run("pull", "far"))
        assert tree(models_dir / "pulled") == {}

    def test_of_what_is_gone_is_told(self, run: Run, offered: Callable[..., None]) -> None:
        offered("network.onnx", not_found)
        assert re.match(r"There is no file at .*/network\.onnx any more", failed(run("pull", "far")))

    def test_of_an_unknown_model_names_those_there_are(self, run: Run) -> None:
        assert "The catalogue has no gone. It has: animeganv3-hayao," in failed(run("pull", "gone"))

    def test_of_a_model_fetched_by_hand_says_how(self, run: Run) -> None:
        assert "save it from https://github.com/" in failed(run("pull", "animeganv3-jp-face"))


class TestList:
    def test_shows_what_is_here_and_what_can_be_pulled(self, run: Run, models_dir: Path) -> None:
        put(models_dir, "mine")
        put(models_dir, "broken", halo=None)
        (put(models_dir, "damaged") / "own.onnx").unlink()
        result = run("list")
        assert result.exit_code == 0
        assert re.search(r"hayao +built in, scene, non-commercial: Countryside", result.stdout)
        assert re.search(r"mine +added, scene, any use: Name", result.stdout)
        assert re.search(r"broken +lost: Style broken has no halo", result.stdout)
        assert re.search(r"unavailable: Style damaged: own\.onnx is missing", result.stdout)
        assert re.search(r"animeganv3-hayao +a style at once, scene, non-commercial", result.stdout)
        assert re.search(r"animeganv2-paprika +to be converted from pytorch", result.stdout)
        assert re.search(r"animeganv3-jp-face +by hand", result.stdout)

    def test_of_a_folder_without_models_is_told(self, run: Run, models_dir: Path) -> None:
        (models_dir / "models.toml").unlink()
        assert "cannot be read: without it there are no styles" in failed(run("list"))


class TestVerify:
    def test_finds_all_well(self, run: Run, models_dir: Path, tmp_path: Path) -> None:
        for path in (PROJECT_ROOT / "models").glob("lite_*.onnx"):
            if not (models_dir / path.name).exists():
                (models_dir / path.name).symlink_to(path)
        run("add", networks.identity(tmp_path / "mine.onnx"))
        result = run("verify")
        assert result.exit_code == 0, result.stdout
        assert re.search(r"^mine fp32 +ok$", result.stdout, re.MULTILINE)
        assert re.search(r"^hayao int8 +ok$", result.stdout, re.MULTILINE)
        assert re.search(r"^face detector full_range +ok$", result.stdout, re.MULTILINE)

    def test_tells_each_fault_and_sums_up(self, run: Run, models_dir: Path, tmp_path: Path) -> None:
        """A missing file, a changed one, one that no longer fits its card, and a card that cannot be read."""
        for name in ("changed", "unfit"):
            run("add", networks.identity(tmp_path / f"{name}.onnx"))
        (models_dir / "added" / "changed" / "changed.onnx").write_bytes(b"changed")
        card = models_dir / "added" / "unfit" / "card.toml"
        card.write_text(card.read_text().replace('input_name = "input"', 'input_name = "photo"'))
        put(models_dir, "broken", halo=None)
        result = run("verify")
        told = failed(result)
        assert "cannot be used: hayao fp16, hayao int8, " in told
        assert "cute fp16, cute int8, " in told
        assert told.rstrip().endswith(", changed fp32, unfit fp32, broken.")
        assert re.search(r"^hayao int8 +Style hayao: lite_hayao_int8\.onnx is missing", result.stdout, re.MULTILINE)
        assert re.search(r"changed\.onnx has 7 bytes instead of", result.stdout)
        assert re.search(r"unfit fp32 +Style unfit: the network has no input called photo", result.stdout)
        assert re.search(r"^hayao fp32 +ok$", result.stdout, re.MULTILINE)


class TestRemove:
    def test_takes_an_added_style_away(self, run: Run, models_dir: Path) -> None:
        put(models_dir, "mine")
        result = run("remove", "mine")
        assert result.exit_code == 0
        assert "Removed style mine." in result.stderr
        assert list((models_dir / "added").iterdir()) == []

    @pytest.mark.parametrize("name", ["hayao", "gone", "../models"])
    def test_says_no_in_one_sentence(self, run: Run, models_dir: Path, name: str) -> None:
        before = tree(models_dir)
        assert failed(run("remove", name)).endswith(".")
        assert tree(models_dir) == before


def test_a_wrong_setting_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANIMEBOOTH_SIZE", "huge")
    assert "ANIMEBOOTH_SIZE" in failed(run("list"))


def test_a_folder_that_cannot_be_written_is_told(run: Run, models_dir: Path, tmp_path: Path) -> None:
    (models_dir / "added").write_text("a file where the folder should be")
    sentence = failed(run("add", networks.identity(tmp_path / "a.onnx")))
    assert "added cannot be used: " in sentence


def test_interrupting_is_told_and_leaves_nothing(
    run: Run, models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.library.adding.inspect_network", stop)
    assert failed(run("add", networks.identity(tmp_path / "a.onnx"))).startswith("Stopped.")
    assert not (models_dir / "added").exists()


def test_a_written_card_says_who_wrote_it(run: Run, models_dir: Path, tmp_path: Path) -> None:
    run("add", networks.identity(tmp_path / "a.onnx"))
    text = (models_dir / "added" / "a" / "card.toml").read_text()
    assert text.startswith("# Written by `python -m app models add` for a.onnx.")
    assert tomllib.loads(text)["variants"]["fp32"]["file"] == "a.onnx"
