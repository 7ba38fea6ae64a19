"""One style's variants: made by the workshop, judged as a card wants it, and written into a staged models.toml."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.errors import ModelError
from app.inference.card import SMALL, ModelCard, WeightFile
from app.inference.registry import MODELS_FILE, ModelRegistry
from app.library.inspection import Needs
from app.types import StyleId
from tools.command import ToolError
from tools.variants.entries import weight_entry, with_entries, with_small

FIRST: Final = "fp32"
"""The variant that the others are made from and judged by."""

SMALLER: Final[Mapping[str, tuple[str, str]]] = {
    "fp16": ("fp16-weights", "_fp16_weights.onnx"),
    "int8": ("int8", "_int8.onnx"),
}
"""Variant -> what tools.optimize calls it, and what the name of its file there ends in."""


@dataclass(frozen=True, slots=True)
class Makers:
    """The other commands. optimize: makes files of a style in a folder: (style, models, folder).

    verify: what goes into the card of a style's variant, or None where it did not pass: (style, variant, models).
    """

    optimize: Callable[[StyleId, Path, Path], object]
    verify: Callable[[StyleId, str, Path], str | None]
    tell: Callable[[str], None]


def put_weights(models: Path, style: StyleId, weights: Path, look: Callable[[Path], Needs]) -> None:
    """Take ``weights`` as the first variant of ``style`` in the folder ``models``; its other precisions are gone.

    look: finds out what a network needs. Raises ToolError where that is not what the style's table says.
    """
    file = _fitting(models, style, weights, look).variants[FIRST].file
    shutil.copyfile(weights, models / file)
    _write(models, style, [weight_entry(FIRST, _weights(models / file))])


def put_small(models: Path, style: StyleId, weights: Path, look: Callable[[Path], Needs]) -> None:
    """Take ``weights`` as the smaller network of ``style``, for slow machines. As :func:`put_weights`."""
    file = f"{Path(_fitting(models, style, weights, look).variants[FIRST].file).stem}_{SMALL}.onnx"
    shutil.copyfile(weights, models / file)
    entry = weight_entry(SMALL, _weights(models / file))
    _edit(models, lambda text: with_small(text, style, entry))


def _fitting(models: Path, style: StyleId, weights: Path, look: Callable[[Path], Needs]) -> ModelCard:
    """The card of ``style``. Raises ToolError where it does not hold for ``weights``."""
    card = _card(models, style)
    fault = needs_fault(card, look(weights))
    if fault:
        raise ToolError(f"{weights.name} does not fit style {style} of models.toml: {fault}. Change its table first.")
    return card


def needs_fault(card: ModelCard, needs: Needs) -> str | None:
    """The first thing that ``card`` says otherwise than a network needs; a halo may be larger than that."""
    pairs = {
        "layout": (card.layout, needs.layout),
        "input_name": (card.input_name, needs.input_name),
        "output_name": (card.output_name, needs.output_name),
        "input_range": (card.input_range, needs.input_range),
        "output_range": (card.output_range, needs.output_range),
        "fixed": (card.sizes.fixed, needs.sizes.fixed),
        "local": (card.local, needs.local),
    }
    for key, (stated, found) in pairs.items():
        if stated != found:
            return f"{key} is {stated} there and {found} here"
    if card.sizes.multiple_of % needs.sizes.multiple_of:
        return f"sides are multiples of {card.sizes.multiple_of} there and {needs.sizes.multiple_of} here"
    if card.halo < needs.halo:
        return f"halo is {card.halo} there and {needs.halo} here"
    return None


def make_variants(models: Path, style: StyleId, folder: Path, makers: Makers) -> None:
    """Make the smaller variants of ``style`` again, in the folder ``models``. folder: for what is on the way."""
    first = _card(models, style).variants[FIRST]
    stem = Path(first.file).stem
    made = {variant: folder / f"{stem}{suffix}" for variant, (_, suffix) in SMALLER.items()}
    for path in made.values():
        # What an earlier run left must not pass for this one's.
        path.unlink(missing_ok=True)
    makers.optimize(style, models, folder)
    entries = [weight_entry(FIRST, first)]
    for variant, path in made.items():
        if path.is_file():
            target = models / f"{stem}_{variant}.onnx"
            shutil.copyfile(path, target)
            entries.append(_judged(models, style, variant, entries, makers))
        else:
            (models / f"{stem}_{variant}.onnx").unlink(missing_ok=True)
            makers.tell(f"{style} {variant}: not made, so models.toml has none.")
    _write(models, style, entries)


def _judged(models: Path, style: StyleId, variant: str, entries: Sequence[str], makers: Makers) -> str:
    """The entry of ``variant``: with its judgement, or without where it did not pass: then it is not offered."""
    stem = Path(_card(models, style).variants[FIRST].file).stem
    weights = _weights(models / f"{stem}_{variant}.onnx")
    _write(models, style, [*entries, weight_entry(variant, weights)])
    verified = makers.verify(style, variant, models)
    if verified is None:
        makers.tell(f"{style} {variant}: did not pass, so it is there but not offered.")
    return weight_entry(variant, weights, verified or "")


def _card(models: Path, style: StyleId) -> ModelCard:
    styles = ModelRegistry.read(models, with_added=False).styles
    if style not in styles:
        raise ToolError(f"models.toml has no style {style}. It has: {', '.join(styles)}.")
    card = styles[style].card
    if FIRST not in card.variants:
        raise ToolError(f"Style {style} has no variant {FIRST} to make others from.")
    return card


def _weights(path: Path) -> WeightFile:
    content = path.read_bytes()
    return WeightFile(path.name, hashlib.sha256(content).hexdigest(), len(content))


def _write(models: Path, style: StyleId, entries: Sequence[str]) -> None:
    _edit(models, lambda text: with_entries(text, style, entries))


def _edit(models: Path, change: Callable[[str], str]) -> None:
    path = models / MODELS_FILE
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    # Whatever is written must be readable.
    try:
        ModelRegistry.read(models, with_added=False)
    except ModelError as error:
        raise ToolError(f"The new models.toml would be wrong: {error}") from error
