"""Presets: styles that are another style with a wish of its own, such as a portrait of the face alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

from app.errors import ModelError
from app.inference.card import ModelCard, Words, style_id, words
from app.inference.tables import Table
from app.types import FaceMode, StyleId


@dataclass(frozen=True, slots=True)
class Preset:
    """A style that has no network of its own.

    style: whose network, partner and licence it has. face: what ``face`` is where a request leaves it open.
    """

    id: StyleId
    title: Words
    description: Words
    style: StyleId
    face: FaceMode


def parse_preset(name: str, content: object) -> Preset:
    """The preset in one table. Raises ModelError with a sentence that names the preset and the key."""
    table = Table(name, content)
    own = style_id(table, "id", table.take("id", str))
    table.name = f"Preset {own}"
    preset = Preset(
        id=own,
        title=words(table.table("title")),
        description=words(table.table("description")),
        style=table.take("style", str),
        face=table.choice("face", get_args(FaceMode)),
    )
    table.finish()
    return preset


def check_presets(presets: Iterable[Preset], cards: Iterable[ModelCard]) -> Mapping[StyleId, Preset]:
    """By their ids. Raises ModelError where one is called as another or as a style, or is of a style that is none."""
    styles = {card.id for card in cards}
    known: dict[StyleId, Preset] = {}
    for preset in presets:
        if preset.id in styles or preset.id in known:
            raise ModelError(f"Two styles are called {preset.id}.")
        if preset.style not in styles:
            raise ModelError(f"Preset {preset.id}: style names no style: {preset.style}.")
        known[preset.id] = preset
    return known
