"""models/catalogue.toml: public networks, where their authors publish them and what may be done with them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args
from urllib.parse import unquote, urlsplit

from app.errors import ModelError
from app.i18n import LANGUAGES
from app.inference.card import LEAST_FACE_SIZE, ChannelOrder, Kind, Licence, Words
from app.inference.tables import Table
from app.library.card_file import About
from app.library.inspection import Wishes
from app.types import StyleId

CATALOGUE_FILE: Final = "catalogue.toml"

Format: TypeAlias = Literal["onnx", "pytorch", "tensorflow"]
"""``onnx`` becomes a style at once; the others are converted first (docs/models.md)."""

_HEX_DIGITS: Final = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file at an address. sha256, bytes: what it must be, where that is known."""

    url: str
    sha256: str | None
    bytes: int | None

    @property
    def name(self) -> str:
        """The last part of the address: what the file is called here too."""
        return PurePosixPath(unquote(urlsplit(self.url).path)).name


@dataclass(frozen=True, slots=True)
class Entry:
    """One network of the catalogue.

    page: where its author tells of it. by_hand: the name of a file that a person must fetch from that page, where
    its own address is not known. wishes: what of its card its author states and no look would find.
    """

    id: StyleId
    title: Words
    description: Words
    kind: Kind
    family: str
    page: str
    licence: Licence
    commercial: bool
    format: Format
    face_size: int
    files: tuple[RemoteFile, ...]
    by_hand: str | None
    wishes: Wishes

    def about(self, surroundings: StyleId | None) -> About:
        """What its card says beside what is found by looking. surroundings: for a face style."""
        return About(
            id=self.id,
            title=self.title,
            description=self.description,
            kind=self.kind,
            surroundings=surroundings if self.kind == "face" else None,
            family=self.family,
            source=self.page,
            licence=self.licence,
            commercial=self.commercial,
            face_size=self.face_size,
        )


def read_catalogue(path: Path) -> Mapping[StyleId, Entry]:
    """The entries of the catalogue in ``path``, in its order. Raises ModelError where it is missing or wrong."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise ModelError(f"{path} cannot be read: without it nothing can be pulled.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} is not valid TOML: {error}.") from None
    table = Table(CATALOGUE_FILE, content)
    entries = [_entry(f"Model number {number}", item) for number, item in enumerate(table.take("models", list), 1)]
    table.finish()
    return _by_id(entries)


def _by_id(entries: list[Entry]) -> Mapping[StyleId, Entry]:
    found: dict[StyleId, Entry] = {}
    for entry in entries:
        if entry.id in found:
            raise ModelError(f"Two models of the catalogue are called {entry.id}.")
        found[entry.id] = entry
    return MappingProxyType(found)


def _entry(name: str, content: object) -> Entry:
    table = Table(name, content)
    table.name = f"Model {(model := table.take('id', str))}"
    entry = Entry(
        id=model,
        title=_words(table.table("title")),
        description=_words(table.table("description")),
        kind=table.choice("kind", get_args(Kind)),
        family=table.take("family", str),
        page=_https(table, "page"),
        licence=_licence(table.table("licence")),
        commercial=table.take("commercial", bool),
        format=table.choice("format", get_args(Format)),
        face_size=table.whole("face_size", least=LEAST_FACE_SIZE),
        files=tuple(_file(model, item) for item in table.take_or("files", list, []) or []),
        by_hand=table.take_or("by_hand", str, None),
        wishes=_wishes(table),
    )
    table.finish()
    if bool(entry.files) is bool(entry.by_hand):
        raise ModelError(f"Model {model} must have either files or by_hand.")
    return entry


def _wishes(table: Table) -> Wishes:
    return Wishes(
        channel_order=_order(table),
        multiple_of=table.take_or("multiple_of", int, None),
        minimum=table.take_or("minimum", int, None),
    )


def _order(table: Table) -> ChannelOrder | None:
    order = table.take_or("channel_order", str, None)
    if order not in (None, *get_args(ChannelOrder)):
        raise table.error("channel_order", "is RGB or BGR")
    return "BGR" if order == "BGR" else "RGB" if order else None


def _file(model: StyleId, content: object) -> RemoteFile:
    table = Table(f"Model {model}, a file,", content)
    file = RemoteFile(_https(table, "url"), table.take_or("sha256", str, None), table.take_or("bytes", int, None))
    table.finish()
    if file.sha256 is not None and (len(file.sha256) != 64 or not set(file.sha256) <= _HEX_DIGITS):
        raise table.error("sha256", "must be 64 digits of 0 to 9 and a to f")
    if file.name in ("", ".."):
        raise table.error("url", "must end in the name of a file")
    return file


def _https(table: Table, key: str) -> str:
    text = table.take(key, str)
    if not text.startswith("https://"):
        raise table.error(key, f"cannot be “{text}”: it must be an https address")
    return text


def _words(table: Table) -> Words:
    words = {language: table.take(language, str) for language in LANGUAGES}
    table.finish()
    return MappingProxyType(words)


def _licence(table: Table) -> Licence:
    licence = Licence(table.take("id", str), table.take("sentence", str))
    table.finish()
    return licence
