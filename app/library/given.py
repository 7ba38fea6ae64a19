"""What the options of ``models add`` say of a style, and what stands in for those not given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from app.errors import ModelError
from app.inference.card import Licence, Words
from app.library.adding import scenery
from app.library.card_file import About, in_all_languages
from app.library.catalogue import Entry
from app.library.inspection import Wishes
from app.library.shelf import style_id

Given: TypeAlias = Mapping[str, Any]
"""By the option's name, with underscores; None for one that was not given."""

FACE_SIZE: Final = 512
"""Pixels: what the AnimeGAN family was trained on."""

_NO_LICENCE: Final = Licence("LicenseRef-Unknown", "Its licence was not stated when it was added.")

_DESCRIPTION: Final[Words] = {
    "en": "A style added by the owner of this service.",
    "zh": "由本服务的管理者添加的风格。",
    "ja": "このサービスの管理者が追加したスタイル。",
}


def about_from(given: Given, models_dir: Path, file: Path, entry: Entry | None) -> About:
    """What a style made of ``file`` is: as the catalogue's ``entry`` says, or by the file's name; options override."""
    about = entry.about(None) if entry else _own(file)
    changes: dict[str, Any] = {
        "id": given["style"],
        "title": given["title"] and in_all_languages(given["title"]),
        "description": given["description"] and in_all_languages(given["description"]),
        "licence": _licence(about.licence, given["licence"], given["licence_sentence"]),
    }
    changes |= {key: given[key] for key in ("kind", "surroundings", "family", "source", "commercial", "face_size")}
    about = replace(about, **{key: value for key, value in changes.items() if value is not None})
    if about.kind == "face" and about.surroundings is None:
        about = replace(about, surroundings=scenery(models_dir))
    return about


def _own(file: Path) -> About:
    return About(
        id=style_id(file.stem),
        title=in_all_languages(file.stem.replace("_", " ").strip() or "?"),
        description=_DESCRIPTION,
        kind="scene",
        surroundings=None,
        family="custom",
        source=None,
        licence=_NO_LICENCE,
        commercial=False,
        face_size=FACE_SIZE,
    )


def _licence(before: Licence, name: str | None, sentence: str | None) -> Licence:
    if name is None:
        return Licence(before.id, sentence or before.sentence)
    return Licence(name, sentence or f"Licence: {name}.")


def wishes_from(given: Given, entry: Entry | None) -> Wishes:
    """What is not to be found out: what ``entry`` states; options override. Raises ModelError for a falling range."""
    wishes = entry.wishes if entry else Wishes()
    stated = {item.name: given[item.name] for item in fields(Wishes) if given[item.name] is not None}
    for name in ("input_range", "output_range"):
        if name in stated and not stated[name][0] < stated[name][1]:
            raise ModelError(f"The two numbers of --{name.replace('_', '-')} must rise.")
    return replace(wishes, **stated)
