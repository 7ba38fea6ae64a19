"""A style's card as the text of its card.toml; what the keys mean: models/README.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.i18n import LANGUAGES, Language
from app.inference.card import Kind, Licence, WeightFile
from app.library.inspection import Needs
from app.types import StyleId

DELETE: Final = "\x7f"


@dataclass(frozen=True, slots=True)
class About:
    """What no look at a network can tell: what people call it, who made it and who may use it.

    title, description: by language. source: https address it is from, or None. face_size: px.
    """

    id: StyleId
    title: Mapping[Language, str]
    description: Mapping[Language, str]
    kind: Kind
    surroundings: StyleId | None
    family: str
    source: str | None
    licence: Licence
    commercial: bool
    face_size: int


def in_all_languages(text: str) -> dict[Language, str]:
    """``text`` for every language the page speaks: better in one that is not the reader's than not at all."""
    return dict.fromkeys(LANGUAGES, text)


def card_text(about: About, needs: Needs, weights: WeightFile, *, variant: str, remarks: Sequence[str]) -> str:
    """The whole card.toml. remarks: lines for people, put above as comments."""
    comments = "".join(f"# {_one_line(remark)}\n" for remark in remarks)
    return comments + "\n" + as_toml(_table(about, needs, weights, variant))


def _table(about: About, needs: Needs, weights: WeightFile, variant: str) -> dict[str, Any]:
    table = {
        "id": about.id,
        "kind": about.kind,
        "surroundings": about.surroundings,
        "family": about.family,
        "source": about.source,
        "commercial": about.commercial,
        "layout": needs.layout,
        "input_name": needs.input_name,
        "output_name": needs.output_name,
        "input_range": list(needs.input_range),
        "output_range": list(needs.output_range),
        "channel_order": needs.channel_order,
        "multiple_of": needs.sizes.multiple_of,
        "minimum": needs.sizes.minimum,
        "fixed": None if needs.sizes.fixed is None else list(needs.sizes.fixed),
        "local": needs.local,
        "halo": needs.halo,
        "face_size": about.face_size,
        "title": dict(about.title),
        "description": dict(about.description),
        "licence": {"id": about.licence.id, "sentence": about.licence.sentence},
        f"variants.{variant}": {"file": weights.file, "sha256": weights.sha256, "bytes": weights.bytes},
    }
    return {key: value for key, value in table.items() if value is not None}


def as_toml(content: Mapping[str, Any]) -> str:
    """TOML of a table: texts, numbers, truths and lists of numbers first, then tables of texts and numbers."""
    plain = [f"{key} = {_value(value)}\n" for key, value in content.items() if not isinstance(value, dict)]
    tables = [
        f"\n[{key}]\n" + "".join(f"{name} = {_value(item)}\n" for name, item in value.items())
        for key, value in content.items()
        if isinstance(value, dict)
    ]
    return "".join(plain + tables)


def _value(value: Any) -> str:
    # JSON's texts, numbers, truths and lists are TOML's as well, but for one control character (TOML 1.0, "String").
    return json.dumps(value, ensure_ascii=False).replace(DELETE, "\\u007f")


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def weight_file(path: Path, sha256: str) -> WeightFile:
    """The entry for the file at ``path``, which lies beside its card."""
    return WeightFile(path.name, sha256, path.stat().st_size)
