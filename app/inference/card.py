"""A network states its needs as data: ModelCard, and how one is read from models.toml or a card.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

from app.errors import ModelError
from app.i18n import LANGUAGES, Language
from app.imaging.sizing import SizeRequirements
from app.inference.tables import Table
from app.inference.verified import Verified, parse_verified
from app.types import StyleId

Kind: TypeAlias = Literal["scene", "face"]
Layout: TypeAlias = Literal["NCHW", "NHWC"]
ChannelOrder: TypeAlias = Literal["RGB", "BGR"]
Words: TypeAlias = Mapping[Language, str]

LEAST_FACE_SIZE: Final = 64

SMALL: Final = "small"
"""The variant that is no other precision of the first but a smaller network of the same style, for slow machines."""

_ID_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_HEX_DIGITS: Final = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file and what it must be. ``file`` is relative to the folder of the list or card, with forward slashes.

    verified: of a style's variant, how it was judged.
    """

    file: str
    sha256: str
    bytes: int
    verified: Verified | None = None


@dataclass(frozen=True, slots=True)
class Licence:
    """``id`` as SPDX has it (``LicenseRef-`` for what SPDX does not list) and one sentence for people."""

    id: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ModelCard:
    """All that the service needs to know of a network; no caller asks which one it is.

    kind: ``scene`` suits whole pictures, ``face`` upright face crops. surroundings: the style used outside the
    faces, for a face style (None: its own). source: where the weights are from, an https address, or None for a
    network of the owner's own. input_range, output_range: what 0 and 255 are to the network.
    sizes: the sides it takes. local: an output pixel depends on the ``halo`` px around it and no more, so that
    tiles give the very pixels of the whole. halo: also the px of a tile's rim that are dropped where ``local``
    is false. face_size: side of a face crop that looks best, in px. variants: by precision, and SMALL; the
    first stands in for any that is not there.
    """

    id: StyleId
    title: Words
    description: Words
    kind: Kind
    surroundings: StyleId | None
    family: str
    source: str | None
    licence: Licence
    commercial: bool
    layout: Layout
    input_name: str
    output_name: str
    input_range: tuple[float, float]
    output_range: tuple[float, float]
    channel_order: ChannelOrder
    sizes: SizeRequirements
    local: bool
    halo: int
    face_size: int
    variants: Mapping[str, WeightFile]

    def weights(self, variant: str) -> WeightFile:
        """The file of ``variant``, or of the first variant where the style lacks it."""
        return self.variants.get(variant) or next(iter(self.variants.values()))


def parse_card(name: str, content: object) -> ModelCard:
    """The card in one table. Raises ModelError with a sentence that names the style and the key."""
    table = Table(name, content)
    style = style_id(table, "id", table.take("id", str))
    table.name = f"Style {style}"
    card = ModelCard(
        id=style,
        title=words(table.table("title")),
        description=words(table.table("description")),
        kind=table.choice("kind", get_args(Kind)),
        surroundings=table.take_or("surroundings", str, None),
        family=table.take("family", str),
        source=_url(table, "source"),
        licence=_licence(table.table("licence")),
        commercial=table.take("commercial", bool),
        layout=table.choice("layout", get_args(Layout)),
        input_name=table.take("input_name", str),
        output_name=table.take("output_name", str),
        input_range=table.pair("input_range"),
        output_range=table.pair("output_range"),
        channel_order=table.choice("channel_order", get_args(ChannelOrder)),
        sizes=_sizes(table),
        local=table.take("local", bool),
        halo=table.whole("halo", least=0),
        face_size=table.whole("face_size", least=LEAST_FACE_SIZE),
        variants=_variants(table, table.table("variants")),
    )
    table.finish()
    return card


def check_surroundings(card: ModelCard, known: Mapping[StyleId, ModelCard]) -> None:
    """Raises ModelError where ``card`` names surroundings that are not among ``known`` or are no scenery."""
    if card.surroundings is None:
        return
    if card.kind != "face":
        raise ModelError(f"Style {card.id}: only a face style has surroundings.")
    if card.surroundings not in known:
        raise ModelError(f"Style {card.id}: surroundings names no style: {card.surroundings}.")
    if known[card.surroundings].kind == "face":
        raise ModelError(f"Style {card.id}: surroundings must be a scene style, and {card.surroundings} is for faces.")


def parse_weight_file(table: Table) -> WeightFile:
    """``file``, ``sha256`` and ``bytes`` of ``table``; other keys are left in it."""
    file, digest = table.take("file", str), table.take("sha256", str)
    path = PurePosixPath(file)
    # Backslashes and colons would be a way out on Windows.
    if path.is_absolute() or ".." in path.parts or set(file) & set("\\:\0"):
        raise table.error("file", f"cannot be “{file}”: it must lie in the models folder")
    if len(digest) != 64 or not set(digest) <= _HEX_DIGITS:
        raise table.error("sha256", "must be 64 digits of 0 to 9 and a to f")
    return WeightFile(file, digest, table.whole("bytes", least=1))


def style_id(table: Table, key: str, text: str) -> StyleId:
    """``text`` of ``key``, if it can be an id. Raises ModelError."""
    if not set(text) <= _ID_CHARACTERS:
        raise table.error(key, f"cannot be “{text}”: small letters, digits, - and _ only")
    return text


def words(table: Table) -> Words:
    """A text in every language of the page. Raises ModelError where one is missing."""
    texts = {language: table.take(language, str) for language in LANGUAGES}
    table.finish()
    return MappingProxyType(texts)


def _url(table: Table, key: str) -> str | None:
    text = table.take_or(key, str, None)
    if text is not None and not text.startswith("https://"):
        raise table.error(key, f"cannot be “{text}”: it must be an https address")
    return text


def _licence(table: Table) -> Licence:
    licence = Licence(table.take("id", str), table.take("sentence", str))
    table.finish()
    return licence


def _sizes(table: Table) -> SizeRequirements:
    multiple, fixed = table.whole("multiple_of", least=1), table.take_or("fixed", list, None)
    minimum = table.whole("minimum", least=1)
    if fixed is None:
        return SizeRequirements(multiple, minimum)
    if len(fixed) != 2 or not all(type(side) is int and side > 0 and side % multiple == 0 for side in fixed):
        raise table.error("fixed", "must be a width and a height that are multiples of multiple_of")
    return SizeRequirements(multiple, minimum, (fixed[0], fixed[1]))


def _variants(style: Table, table: Table) -> Mapping[str, WeightFile]:
    variants = {}
    for name, variant in table.tables().items():
        variants[name] = _variant(variant)
    if not variants:
        raise style.error("variants", "must name at least one file")
    return MappingProxyType(variants)


def _variant(table: Table) -> WeightFile:
    weights = parse_weight_file(table)
    if table.has("verified"):
        weights = replace(weights, verified=parse_verified(table.table("verified")))
    table.finish()
    return weights
