"""Every style looked over: are its files the ones described, and does each build a session that draws?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.errors import ModelError
from app.inference.card import WeightFile
from app.inference.registry import ModelRegistry, Style, file_fault
from app.library.adding import try_style


@dataclass(frozen=True, slots=True)
class Checked:
    """``name`` of what was looked at, e.g. ``hayao fp32``, and what is wrong with it, in one sentence, or None."""

    name: str
    fault: str | None


def check_up(models_dir: Path, *, threads: int) -> Iterator[Checked]:
    """Look over all styles, all their variants, and the face detectors. Raises ModelError for a wrong models.toml."""
    registry = ModelRegistry.read(models_dir)
    for style in registry.styles.values():
        for variant, weights in style.card.variants.items():
            yield Checked(f"{style.card.id} {variant}", _style_fault(style, weights, threads))
    for name, reason in registry.lost.items():
        yield Checked(name, reason)
    for name, detector in registry.detectors.items():
        yield Checked(f"face detector {name}", detector.reason)


def _style_fault(style: Style, weights: WeightFile, threads: int) -> str | None:
    path = style.folder / weights.file
    fault = file_fault(path, weights)
    if fault is not None:
        return f"Style {style.card.id}: {path.name} {fault}."
    try:
        try_style(style.card, path, threads=threads)
    except ModelError as error:
        return error.reason
    return None
