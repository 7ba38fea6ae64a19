"""Under which names answers and drawings are remembered: hashes of all that shows in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from app.conversion import FINISHING_OPTIONS
from app.inference.registry import ModelRegistry
from app.options import ConvertOptions
from app.types import StyleId

PACKAGE: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = ("conversion.py", "imaging", "inference")
"""Of this package: what makes pictures."""

LIBRARIES: Final = (
    "mediapipe",
    "numpy",
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-openvino",
    "opencv-contrib-python",
    "pillow",
    "pillow_heif",
    "simplejpeg",
)
"""Distributions that have a hand in the pixels."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The names of one request's answer, and of what is drawn for it."""

    answer: str
    drawing: str


class KeyMaker:
    """Makes the keys of one engine.

    around: what else shows in the pictures, or decides whether there is one: JSON values. On another machine the keys
    are the same where all of this is.
    """

    def __init__(self, registry: ModelRegistry, around: Sequence[object]) -> None:
        self._registry = registry
        self._detectors = _digest({name: model.sha256 for name, model in registry.detectors.items()})
        self._around = _digest(pipeline_version(), *around)
        self._styles = {name: self._style(name) for name in registry.styles}

    def keys(self, data: bytes, options: ConvertOptions, *, faces: bool) -> Keys:
        """For the upload ``data``; ``options`` name a style and a size. faces: whether faces can be looked for."""
        if options.style is None:
            raise ValueError("the engine names a style before it asks for a key")
        # Whatever is added to the options counts, unless it is known to change nothing in the drawing.
        wishes = asdict(options)
        finish = {name: wishes.pop(name) for name in FINISHING_OPTIONS}
        detectors = None if options.face == "off" else [faces, self._detectors]
        upload = hashlib.sha256(data).hexdigest()
        drawing = _digest(self._around, self._styles[options.style], upload, wishes, detectors)
        return Keys(_digest(drawing, finish), drawing)

    def _style(self, name: StyleId) -> str:
        style = self._registry.styles[name]
        around = style.card.surroundings
        # The card says how the network is used; its text form has all of it.
        return _digest(style.sha256, repr(style.card), around and self._style(around))


def pipeline_version(package: Path = PACKAGE) -> str:
    """A hash of the sources that make pictures and of their libraries' versions: nobody can forget to raise it."""
    digest = hashlib.sha256()
    for source in (package / name for name in SOURCES):
        for path in sorted(source.rglob("*.py")) if source.is_dir() else [source]:
            digest.update(f"{path.relative_to(package).as_posix()}\0".encode() + path.read_bytes())
    return _digest(digest.hexdigest(), {name: _version(name) for name in LIBRARIES})


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
