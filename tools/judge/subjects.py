"""Who is judged: a style of the service, one of its variants, or a model file with no card."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from app.i18n import LANGUAGES
from app.inference.card import Licence, ModelCard, WeightFile
from app.inference.registry import ModelRegistry, Style, file_fault
from app.inference.session import OrtSession
from app.library.inspection import Needs, inspect_network
from app.types import RgbImage, Session
from tools.command import ToolError, check_file
from tools.measures.made import made_pictures
from tools.pictures import DEFAULT_FOLDERS, find_photos, load_photos

_PROBES = 2
_PROBE_SIDE = 256
_ELSEWHERE = Licence("LicenseRef-Unknown", "Ask whoever the file is from.")


@dataclass(frozen=True, slots=True)
class Subject:
    """A network to run. name: for people.

    variant: of a known style, which precision; of a bare file, ``file``. added: a style with a card.toml of its own.
    """

    name: str
    path: Path
    card: ModelCard
    variant: str
    added: bool = False

    @property
    def weights(self) -> WeightFile:
        """The file as a card would have it."""
        return self.card.variants[self.variant]

    def session(self, threads: int) -> Session:
        """A session of it. Raises ModelError where the file is no network of its card."""
        return OrtSession(self.path, self.card, threads=threads)


def find_subject(text: str, registry: ModelRegistry, *, like: str | None = None) -> Subject:
    """The subject ``text`` names: ``STYLE``, ``STYLE:VARIANT`` or a model file.

    A file that is none of the registry's is looked at and gets a card of its own. like: a style whose card is taken
    instead, for a file that is a variant of it. Raises ToolError, or ModelError for a file that is no such network.
    """
    style, _, variant = text.partition(":")
    if style in registry.styles:
        return _of_style(registry.styles[style], variant)
    path = Path(text)
    if not path.exists():
        raise ToolError(f"{text} is neither a file nor a style. Styles: {', '.join(registry.styles)}.")
    weights = _weights(check_file(path))
    return _known(path, weights, registry) or _bare(path, weights, registry, like)


def _of_style(style: Style, variant: str) -> Subject:
    card, name = style.card, variant or next(iter(style.card.variants))
    if name not in card.variants:
        raise ToolError(f"Style {card.id} has no variant {name}. It has: {', '.join(card.variants)}.")
    path = style.folder / card.variants[name].file
    fault = file_fault(path, card.variants[name])
    if fault:
        raise ToolError(f"{path} {fault}.")
    return Subject(f"{card.id} {name}", path, card, name, style.added)


def _weights(path: Path) -> WeightFile:
    content = path.read_bytes()
    return WeightFile(path.name, hashlib.sha256(content).hexdigest(), len(content))


def _known(path: Path, weights: WeightFile, registry: ModelRegistry) -> Subject | None:
    """The style whose file this is, wherever it lies."""
    for style in registry.styles.values():
        for variant, file in style.card.variants.items():
            if file.sha256 == weights.sha256:
                return Subject(f"{style.card.id} {variant}", path, style.card, variant, style.added)
    return None


def _bare(path: Path, weights: WeightFile, registry: ModelRegistry, like: str | None) -> Subject:
    if like is None:
        card = _made_card(path, inspect_network(path, probes(), threads=1), weights)
    elif like in registry.styles:
        card = _with_file(registry.card(like), weights)
    else:
        raise ToolError(f"No style is called {like}. Styles: {', '.join(registry.styles)}.")
    return Subject(path.name, path, card, "file")


def probes() -> list[RgbImage]:
    """Photos that show a network's ranges: the samples, or made pictures where they are not there."""
    if DEFAULT_FOLDERS[0].is_dir():
        return [photo.rgb for photo in load_photos(find_photos(DEFAULT_FOLDERS[:1], limit=_PROBES), _PROBE_SIDE)]
    return list(made_pictures(_PROBE_SIDE, _PROBE_SIDE).values())


def _made_card(path: Path, needs: Needs, weights: WeightFile) -> ModelCard:
    words = MappingProxyType(dict.fromkeys(LANGUAGES, path.name))
    return ModelCard(
        id=path.stem,
        title=words,
        description=words,
        kind="scene",
        surroundings=None,
        family="unknown",
        source=None,
        licence=_ELSEWHERE,
        commercial=False,
        layout=needs.layout,
        input_name=needs.input_name,
        output_name=needs.output_name,
        input_range=needs.input_range,
        output_range=needs.output_range,
        channel_order=needs.channel_order,
        sizes=needs.sizes,
        local=needs.local,
        halo=needs.halo,
        face_size=_PROBE_SIDE,
        variants=_variants(weights),
    )


def _variants(weights: WeightFile) -> Mapping[str, WeightFile]:
    return MappingProxyType({"file": weights})


def _with_file(card: ModelCard, weights: WeightFile) -> ModelCard:

    return dataclasses.replace(card, variants=_variants(weights))
