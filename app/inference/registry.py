"""ModelRegistry: what models.toml and the added cards offer, and which files are whole. Loads no network."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from app.errors import ModelError, NoUsableStyle
from app.inference.added import read_added
from app.inference.card import SMALL, ModelCard, WeightFile, check_surroundings, parse_card, parse_weight_file
from app.inference.offer import pick_weights
from app.inference.preset import Preset, check_presets, parse_preset
from app.inference.processor import processor_kind
from app.inference.tables import Table
from app.types import StyleId

MODELS_FILE: Final = "models.toml"

# First line of what Git leaves in place of a large file it has not fetched (git-lfs specification, version 1).
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class Style:
    """A style, the weight file picked for it and, where that cannot be used, why: one sentence without paths.

    folder: what the card's files are relative to. added: by the owner of the service; not one of models.toml.
    note: where other weights are used than those asked for although the card has them, why: a sentence.
    """

    card: ModelCard
    path: Path
    reason: str | None
    folder: Path
    added: bool = False
    note: str | None = None

    @property
    def usable(self) -> bool:
        """Whether the file is the one its card describes."""
        return self.reason is None

    @property
    def weights_in_use(self) -> tuple[str, str]:
        """The name of the variant picked, and the SHA-256 of its file."""
        variants = self.card.variants.items()
        return next((name, file.sha256) for name, file in variants if self.folder / file.file == self.path)

    @property
    def sha256(self) -> str:
        """Of the weights picked, as the card has it."""
        return next(file.sha256 for file in self.card.variants.values() if self.folder / file.file == self.path)


@dataclass(frozen=True, slots=True)
class DetectorModel:
    """A face detector's file, its licence and origin and, where it cannot be used, why."""

    path: Path
    sha256: str
    licence: str
    origin: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class ModelRegistry:
    """The styles by id, those of models.toml first and in its order, and the face detectors by name.

    lost: why an added style could not even be read, one sentence each, by the name of its folder. presets: of the
    styles of models.toml, in its order.
    """

    styles: Mapping[StyleId, Style]
    detectors: Mapping[str, DetectorModel]
    lost: Mapping[StyleId, str]
    presets: Mapping[StyleId, Preset]

    @classmethod
    def load(
        cls,
        models_dir: Path,
        *,
        variant: str = "fp32",
        small: bool = False,
        processor: str | None = None,
        with_added: bool = True,
    ) -> ModelRegistry:
        """As :meth:`read`, but raises NoUsableStyle, with every reason, where no style is left."""
        registry = cls.read(models_dir, variant=variant, small=small, processor=processor, with_added=with_added)
        if not registry.usable:
            reasons = [style.reason for style in registry.styles.values() if style.reason]
            raise NoUsableStyle([*reasons, *registry.lost.values()])
        return registry

    @classmethod
    def read(
        cls,
        models_dir: Path,
        *,
        variant: str = "fp32",
        small: bool = False,
        processor: str | None = None,
        with_added: bool = True,
    ) -> ModelRegistry:
        """Read ``models_dir``/models.toml and added cards; check every file in use against its size and SHA-256.

        variant: the weights picked where a style has them and they may be offered (app/inference/offer.py). small:
        whether a style's smaller network is picked where it has one, whatever ``variant`` is. processor: the kind they
        are to run on; None: the one at hand. with_added: whether added styles count. Raises ModelError for a
        models.toml that is missing or wrong anywhere: nothing of it is used then. A bad weight file, or a bad added
        card, spoils its own style alone.
        """
        cards, presets, detectors = _parse(_read_toml(models_dir / MODELS_FILE))
        built_in = {card.id: card for card in cards}
        added, lost = read_added(models_dir, built_in, taken=presets) if with_added else ([], {})
        pick = partial(_style, variant=variant, small=small, processor=processor or processor_kind())
        styles = [pick(card, models_dir) for card in cards]
        styles += [pick(style.card, style.folder, added=True) for style in added]
        return cls(
            MappingProxyType({style.card.id: style for style in styles}),
            MappingProxyType({name: _detector(table, models_dir) for name, table in detectors.items()}),
            MappingProxyType(lost),
            MappingProxyType(presets),
        )

    @property
    def usable(self) -> tuple[StyleId, ...]:
        """Ids of the styles whose files are whole."""
        return tuple(name for name, style in self.styles.items() if style.usable)

    @property
    def notes(self) -> tuple[str, ...]:
        """Where other weights are used than those asked for, and why: a sentence each."""
        return tuple(style.note for style in self.styles.values() if style.note is not None)

    @property
    def has_small(self) -> bool:
        """Whether a style has a smaller network for slow machines."""
        return any(SMALL in style.card.variants for style in self.styles.values())

    def card(self, style: StyleId) -> ModelCard:
        """Raises KeyError for an unknown id."""
        return self.styles[style].card


def file_fault(path: Path, expected: WeightFile) -> str | None:
    """What is wrong with the file at ``path``, to follow its name in a sentence; None where it is as expected."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return "is missing"
    except OSError:
        return "cannot be read"
    if not content:
        return "is empty"
    if content.startswith(_LFS_POINTER):
        return "is a Git LFS pointer, not the file itself: run `git lfs pull`"
    if len(content) != expected.bytes:
        return f"has {len(content)} bytes instead of {expected.bytes}: fetch it again"
    if hashlib.sha256(content).hexdigest() != expected.sha256:
        return "is another file than the one described (its SHA-256 differs): fetch it again"
    return None


def _read_toml(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise ModelError(f"{path} cannot be read: without it there are no styles.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} is not valid TOML: {error}.") from None


def _parse(content: Mapping[str, object]) -> tuple[list[ModelCard], Mapping[StyleId, Preset], Mapping[str, Table]]:
    table = Table(MODELS_FILE, content)
    cards = [parse_card(f"Style number {number}", item) for number, item in enumerate(table.take("styles", list), 1)]
    tables = table.take_or("presets", list, None) or []
    presets = [parse_preset(f"Preset number {number}", item) for number, item in enumerate(tables, 1)]
    detectors = Table("Face detector", table.take_or("face_detectors", dict, {})).tables()
    table.finish()
    _check_ids(cards)
    return cards, check_presets(presets, cards), detectors


def _check_ids(cards: list[ModelCard]) -> None:
    known: dict[StyleId, ModelCard] = {}
    for card in cards:
        if card.id in known:
            raise ModelError(f"Two styles are called {card.id}.")
        known[card.id] = card
    for card in cards:
        check_surroundings(card, known)


def _style(card: ModelCard, folder: Path, *, variant: str, small: bool, processor: str, added: bool = False) -> Style:
    if small and SMALL in card.variants:
        small_one = card.variants[SMALL]
        path = folder / small_one.file
        fault = file_fault(path, small_one)
        if fault is None:
            return Style(card, path, None, folder, added)
        usual = _style(card, folder, variant=variant, small=False, processor=processor, added=added)
        return replace(usual, note=f"Style {card.id}: the usual network is used, because {path.name} {fault}.")
    offer = pick_weights(card, variant, processor)
    path = folder / offer.weights.file
    fault = file_fault(path, offer.weights)
    reason = fault and f"Style {card.id}: {path.name} {fault}."
    note = offer.why and f"Style {card.id}: {path.name} is used in place of {variant}, because {offer.why}."
    return Style(card, path, reason, folder, added, note)


def _detector(table: Table, models_dir: Path) -> DetectorModel:
    weights, licence, origin = parse_weight_file(table), table.take("licence", str), table.take("origin", str)
    table.finish()
    path = models_dir / weights.file
    fault = file_fault(path, weights)
    return DetectorModel(path, weights.sha256, licence, origin, fault and f"{table.name}: {path.name} {fault}.")
