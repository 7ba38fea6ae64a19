"""From a network file to a style: looked at, described, tried, and only then put on the shelf."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from app.errors import ModelError
from app.imaging.decode import DecodeLimits, decode
from app.inference.added import CARD_FILE
from app.inference.card import ModelCard, check_surroundings, parse_card
from app.inference.registry import ModelRegistry
from app.inference.session import OrtSession
from app.inference.stylizer import Stylizer
from app.library.card_file import About, card_text, weight_file
from app.library.findings import Finding
from app.library.inspection import NO_WISHES, Needs, Wishes, inspect_network
from app.library.kinds import network_suffix
from app.library.shelf import copy_weights, new_style
from app.types import RgbImage, StyleId

VARIANT: Final = "fp32"
"""What a style's only file is called; it stands in for the others."""

_TRIAL: Final = (104, 152)
"""(height, width) in px of the picture a style must draw: multiples of 8 and of nothing more, so that a card's own
multiple is put to the test."""


def add_style(
    models_dir: Path,
    file: Path,
    about: About,
    photos: Sequence[RgbImage],
    *,
    threads: int,
    wishes: Wishes = NO_WISHES,
    tell: Callable[[Finding], None] = lambda finding: None,
) -> ModelCard:
    """Add the network in ``file`` as the style ``about`` describes, and return its card.

    photos: what it is tried with. tell: called with each thing found out. Raises ModelError or OSError, and then
    nothing has changed.
    """
    suffix = network_suffix(file)
    with new_style(models_dir, about.id) as folder:
        weights = folder / f"{about.id}{suffix}"
        digest = copy_weights(file, weights)
        needs = inspect_network(weights, photos, threads=threads, wishes=wishes, name=file.name)
        for finding in needs.findings:
            tell(finding)
        text = card_text(
            about, needs, weight_file(weights, digest), variant=VARIANT, remarks=_remarks(file.name, needs)
        )
        (folder / CARD_FILE).write_text(text, encoding="utf-8")
        card = _checked(text, about, models_dir)
        try_style(card, weights, threads=threads)
    return card


def _remarks(name: str, needs: Needs) -> list[str]:
    return [f"Written by `python -m app models add` for {name}. What was found, and how:", *map(str, needs.findings)]


def _checked(text: str, about: About, models_dir: Path) -> ModelCard:
    # As it will be read: what would be refused at the next start is refused now.
    card = parse_card(f"Style {about.id}", tomllib.loads(text))
    check_surroundings(card, {name: style.card for name, style in ModelRegistry.read(models_dir).styles.items()})
    return card


def try_style(card: ModelCard, weights: Path, *, threads: int) -> None:
    """Build the style's session and let it draw a small picture. Raises ModelError where either fails."""
    stylizer = Stylizer(card, OrtSession(weights, card, threads=threads))
    picture = np.full((*_TRIAL, 3), 127, np.uint8)
    try:
        drawn = stylizer.stylize(picture)
    # ONNX Runtime's exceptions have no common root but Exception.
    except Exception as error:
        raise ModelError(f"Style {card.id}: the network does not run as its card says.") from error
    if drawn.shape != picture.shape:
        raise ModelError(f"Style {card.id}: the network does not answer as its card says.")


def sample_photos(static_dir: Path) -> list[RgbImage]:
    """The sample photos, (H, W, 3) uint8, in the order of their names. Raises ModelError where there is none."""
    photos = [decode(path.read_bytes(), DecodeLimits()).rgb for path in sorted((static_dir / "samples").glob("*.jpg"))]
    if not photos:
        raise ModelError("The sample photos (static/samples) are missing: networks are tried with them.")
    return photos


def scenery(models_dir: Path) -> StyleId | None:
    """The style to put around the faces of a face style that names none: the first scene style."""
    styles = ModelRegistry.read(models_dir).styles.values()
    return next((style.card.id for style in styles if style.card.kind == "scene" and style.usable), None)
