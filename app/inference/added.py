"""Styles that the owner of a service added: each a folder of its own below models/added, with a card and weights.

A card is a ``[[styles]]`` table of models.toml as a file, card.toml; its weight files lie beside it. What is wrong
with one costs that style alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.errors import ModelError
from app.inference.card import ModelCard, check_surroundings, parse_card
from app.types import StyleId

ADDED_FOLDER: Final = "added"
CARD_FILE: Final = "card.toml"


@dataclass(frozen=True, slots=True)
class AddedStyle:
    """An added style and the folder that holds its files."""

    card: ModelCard
    folder: Path


def read_added(
    models_dir: Path, built_in: Mapping[StyleId, ModelCard], *, taken: Container[StyleId] = ()
) -> tuple[list[AddedStyle], dict[StyleId, str]]:
    """The added styles in the order of their names, and why others are lost: a sentence by the folder's name.

    built_in: the styles of models.toml: they keep their ids and may be surroundings. taken: other ids that are in use.
    Raises nothing.
    """
    found: dict[StyleId, AddedStyle] = {}
    lost: dict[StyleId, str] = {}
    for folder in added_folders(models_dir):
        try:
            found[folder.name] = AddedStyle(_read_card(folder, built_in, taken), folder)
        except ModelError as error:
            lost[folder.name] = error.reason
    # Afterwards, since an added face style may stand in an added scene style.
    cards = dict(built_in) | {name: style.card for name, style in found.items()}
    for name, style in list(found.items()):
        try:
            check_surroundings(style.card, cards)
        except ModelError as error:
            lost[name] = error.reason
            del found[name]
    return list(found.values()), lost


def added_folders(models_dir: Path) -> list[Path]:
    """Every folder below ``models_dir``/added that holds a style; one whose name begins with a dot is unfinished."""
    try:
        folders = sorted((models_dir / ADDED_FOLDER).iterdir())
    except OSError:
        return []
    return [folder for folder in folders if folder.is_dir() and not folder.name.startswith(".")]


def _read_card(folder: Path, built_in: Container[StyleId], taken: Container[StyleId]) -> ModelCard:
    card = parse_card(f"Added style {folder.name}", _toml(folder))
    if card.id != folder.name:
        raise ModelError(f"Added style {folder.name}: its card calls it {card.id}; folder and id must be the same.")
    if card.id in built_in or card.id in taken:
        raise ModelError(f"Added style {card.id}: a built-in style is called so.")
    return card


def _toml(folder: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
    except OSError:
        raise ModelError(f"Added style {folder.name}: its {CARD_FILE} cannot be read.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"Added style {folder.name}: its {CARD_FILE} is not valid TOML: {error}.") from None
