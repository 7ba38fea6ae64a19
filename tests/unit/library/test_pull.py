"""What is pulled is held to its SHA-256: the published one, or the one that came first."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.errors import ModelError
from app.i18n import LANGUAGES
from app.inference.card import Licence
from app.library.catalogue import Entry, RemoteFile
from app.library.inspection import Wishes
from app.library.pull import pull_files
from app.library.transfer import Patience, Progress
from tests.unit.library.server import Ranged, Web, whole

BODY = b"a network, as far as this test goes" * 1000
SHA256 = hashlib.sha256(BODY).hexdigest()


def entry(*files: RemoteFile, by_hand: str | None = None) -> Entry:
    return Entry(
        id="one",
        title=dict.fromkeys(LANGUAGES, "One"),
        description=dict.fromkeys(LANGUAGES, "One."),
        kind="scene",
        family="AnimeGAN",
        page="https://example.org/one",
        licence=Licence("CC0-1.0", "Free."),
        commercial=True,
        format="onnx",
        face_size=512,
        files=files,
        by_hand=by_hand,
        wishes=Wishes(),
    )


class Pulling:
    """Pulls into ``folder`` and keeps the sentences it is told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []

    def __call__(self, *files: RemoteFile, accept_changed: bool = False) -> list[Path]:
        patience = Patience(seconds=5, tries=2, pause=0)
        return pull_files(
            self.folder, entry(*files), quiet, tell=self.told.append, accept_changed=accept_changed, patience=patience
        )

    @property
    def names(self) -> list[str]:
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))


def quiet(file: RemoteFile) -> Progress:
    return lambda arrived, expected: None


@pytest.fixture
def pulling(tmp_path: Path) -> Pulling:
    return Pulling(tmp_path)


def test_a_file_of_the_right_sha256_is_kept_and_nothing_else(web: Web, pulling: Pulling) -> None:
    url = web.put("/network.onnx", whole(BODY))
    [path] = pulling(RemoteFile(url, SHA256, len(BODY)))
    assert path.read_bytes() == BODY
    assert pulling.names == ["pulled", "pulled/one", "pulled/one/network.onnx"]
    assert pulling.told == []


def test_a_file_of_another_sha256_is_thrown_away(web: Web, pulling: Pulling) -> None:
    url = web.put("/network.onnx", whole(BODY[1:]))
    with pytest.raises(ModelError, match=r"network\.onnx is another file than the one expected .* instead of 35000"):
        pulling(RemoteFile(url, SHA256, len(BODY)))
    assert pulling.names == []


def test_a_file_that_is_there_is_not_fetched_again(web: Web, pulling: Pulling) -> None:
    file = RemoteFile(web.put("/network.onnx", whole(BODY)), SHA256, None)
    pulling(file)
    pulling(file)
    assert len(web.asked) == 1


def test_a_damaged_file_that_is_there_is_fetched_again(web: Web, pulling: Pulling) -> None:
    file = RemoteFile(web.put("/network.onnx", whole(BODY)), SHA256, None)
    [path] = pulling(file)
    path.write_bytes(b"damaged")
    [path] = pulling(file)
    assert path.read_bytes() == BODY


def test_a_damaged_file_stays_where_no_better_one_comes(web: Web, pulling: Pulling) -> None:
    file = RemoteFile(web.put("/network.onnx", whole(BODY)), SHA256, None)
    [path] = pulling(file)
    path.write_bytes(b"damaged")
    web.put("/network.onnx", whole(b"worse"))
    with pytest.raises(ModelError):
        pulling(file)
    assert path.read_bytes() == b"damaged"


def test_an_empty_file_is_refused(web: Web, pulling: Pulling) -> None:
    with pytest.raises(ModelError, match="answered with an empty file"):
        pulling(RemoteFile(web.put("/network.onnx", whole(b"")), None, None))


def test_a_cut_connection_leaves_a_part_and_no_file(web: Web, pulling: Pulling) -> None:
    url = web.put("/network.onnx", Ranged(BODY, cuts=[1000, 0, 0, 0]))
    with pytest.raises(ModelError, match="ended the connection after 1000 of 35000 bytes"):
        pulling(RemoteFile(url, SHA256, None))
    assert pulling.names == [
        "pulled",
        "pulled/one",
        "pulled/one/.network.onnx.part",
        "pulled/one/.network.onnx.part.json",
    ]


def test_a_second_file_that_fails_leaves_the_first(web: Web, pulling: Pulling) -> None:
    first = RemoteFile(web.put("/a.index", whole(BODY)), SHA256, None)
    with pytest.raises(ModelError, match="There is no file at"):
        pulling(first, RemoteFile(f"{web.url}/a.data", None, None))
    assert pulling.names == ["pulled", "pulled/one", "pulled/one/a.index"]


def test_a_model_fetched_by_hand_is_told_how(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"save it from https://example\.org/one, then run .*add face\.onnx --as one"):
        pull_files(tmp_path, entry(by_hand="face.onnx"), quiet, tell=lambda sentence: None)
    assert list(tmp_path.iterdir()) == []


class TestTrustOnFirstUse:
    @pytest.fixture
    def file(self, web: Web) -> RemoteFile:
        return RemoteFile(web.put("/network.onnx", whole(BODY)), None, None)

    def test_is_recorded_and_said(self, pulling: Pulling, file: RemoteFile) -> None:
        pulling(file)
        assert pulling.told == [f"No SHA-256 of network.onnx is published. This one is trusted and recorded: {SHA256}."]
        record = json.loads((pulling.folder / "pulled" / "first-seen.json").read_text())
        assert record[file.url]["sha256"] == SHA256
        assert record[file.url]["bytes"] == len(BODY)

    def test_is_said_once(self, pulling: Pulling, file: RemoteFile) -> None:
        [path] = pulling(file)
        path.unlink()
        pulling(file)
        assert len(pulling.told) == 1

    def test_holds_later_files_to_the_first(self, web: Web, pulling: Pulling, file: RemoteFile) -> None:
        [path] = pulling(file)
        path.unlink()
        web.put("/network.onnx", whole(BODY[1:]))
        with pytest.raises(ModelError, match=r"another file than the one that came from there on \d{4}-\d\d-\d\d"):
            pulling(file)
        assert not path.exists()

    def test_takes_a_changed_file_when_told_to_and_records_that(
        self, web: Web, pulling: Pulling, file: RemoteFile
    ) -> None:
        pulling(file)
        web.put("/network.onnx", whole(BODY[1:]))
        [path] = pulling(file, accept_changed=True)
        assert path.read_bytes() == BODY[1:]
        path.unlink()
        assert pulling(file) == [path]
        assert len(pulling.told) == 2

    def test_never_takes_a_changed_file_whose_sha256_is_published(
        self, web: Web, pulling: Pulling, file: RemoteFile
    ) -> None:
        web.put("/network.onnx", whole(BODY[1:]))
        with pytest.raises(ModelError, match="another file than the one expected"):
            pulling(replace(file, sha256=SHA256), accept_changed=True)

    def test_is_not_forgotten_where_the_record_is_damaged(self, pulling: Pulling, file: RemoteFile) -> None:
        pulling(file)
        (pulling.folder / "pulled" / "first-seen.json").write_text("{no json")
        with pytest.raises(ModelError, match=r"first-seen\.json cannot be read: mend it, or remove it"):
            pulling(file)
