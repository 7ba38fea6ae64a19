"""Stand-ins for what is heavy: networks, the face detector, and a registry of two styles."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from app.config import PROJECT_ROOT
from app.engine import Engine, Parts
from app.errors import ModelError
from app.imaging.decode import DecodeLimits
from app.inference.batcher import Batcher
from app.inference.card import ModelCard
from app.inference.faces import DetectorUnavailable
from app.inference.network import Network
from app.inference.registry import ModelRegistry, Style
from app.inference.stylizer import Stylizer
from app.types import Box, Detector, Face, Point, RgbImage, Session, Tensor


def two_styles() -> ModelRegistry:
    """The built-in scenery and the built-in faces, whatever else there is."""
    registry = ModelRegistry.load(PROJECT_ROOT / "models", with_added=False)
    return replace(registry, styles={name: registry.styles[name] for name in ("hayao", "cute")})


REGISTRY = two_styles()


class Negative:
    """A network that answers with the negative: easily told from the photo, and exact."""

    def run(self, tensor: Tensor) -> Tensor:
        return -tensor


class Dark:
    """A network that answers with black."""

    def run(self, tensor: Tensor) -> Tensor:
        return np.full_like(tensor, -1.0)


@dataclass
class FixedDetector:
    """Finds the same faces in every picture, and counts how often it was asked."""

    faces: list[Face] = field(default_factory=list)
    asked: int = 0
    closed: bool = False

    def detect(self, image: RgbImage) -> list[Face]:
        self.asked += 1
        return self.faces

    def close(self) -> None:
        self.closed = True


def face_at(x: float, y: float, side: float) -> Face:
    """An upright face whose box is the square at (x, y)."""
    eyes = y + 0.4 * side
    return Face(Box(x, y, side, side), Point(x + 0.3 * side, eyes), Point(x + 0.7 * side, eyes), 0.9)


@dataclass
class Workshop:
    """Builds stylizers for tests: which styles fail, which network each has, and what was built."""

    sessions: dict[str, Session] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    built: list[str] = field(default_factory=list)

    def open_style(self, style: Style, batcher: Batcher) -> Stylizer:
        if style.card.id in self.failing:
            raise ModelError(f"Style {style.card.id}: it is broken.")
        self.built.append(style.card.id)
        session = self.sessions.get(style.card.id, Negative())
        network = Network(style.card.id, session, session, most=8)
        return Stylizer(style.card, session, in_turn=partial(batcher.run, network))


def parts(workshop: Workshop | None = None, detector: Detector | None = None, **changed: object) -> Parts:
    """Parts of an engine without networks; ``detector`` None means that faces cannot be found."""

    def open_detector() -> Detector:
        if detector is None:
            raise DetectorUnavailable("this machine has none")
        return detector

    made = Parts(
        registry=REGISTRY,
        open_style=(workshop or Workshop()).open_style,
        open_detector=open_detector,
        limits=DecodeLimits(),
        runs=1,
        lanes=2,
        default_style="hayao",
        default_size=768,
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def started(workshop: Workshop | None = None, detector: Detector | None = None, **changed: object) -> Engine:
    """An engine of ``parts``, ready."""
    engine = Engine(parts(workshop, detector, **changed))
    engine.start(warm=False)
    return engine


def card(style: str) -> ModelCard:
    """The card of a built-in style."""
    return REGISTRY.card(style)


def png(image: np.ndarray) -> bytes:
    """``image``, (H, W), (H, W, 3) or (H, W, 4) uint8, as a PNG file."""
    buffer = BytesIO()
    Image.fromarray(image).save(buffer, "PNG")
    return buffer.getvalue()


def photo(width: int, height: int) -> np.ndarray:
    """(height, width, 3) uint8: a smooth picture in which no two rows or columns are alike."""
    x, y = np.linspace(0, 1, width), np.linspace(0, 1, height)[:, None]
    planes = [x + 0 * y, y + 0 * x, (x + y) / 2]
    return np.stack([np.rint(30 + 190 * plane) for plane in planes], axis=2).astype(np.uint8)


def pixels(image: bytes) -> np.ndarray:
    """An encoded picture's pixels in its own mode."""
    with Image.open(BytesIO(image)) as picture:
        return np.asarray(picture)


def case(name: str) -> bytes:
    """An input of the case book."""
    return (Path(__file__).parent.parent / "cases" / "inputs" / name).read_bytes()
