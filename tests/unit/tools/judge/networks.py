"""Stub networks and what is judged of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from types import MappingProxyType

import numpy as np

from app.config import PROJECT_ROOT
from app.inference.card import ModelCard, WeightFile
from app.inference.registry import ModelRegistry
from app.types import Tensor
from tools.judge.bars import judge, parse_bars
from tools.judge.comparison import Comparison, Painter, compare
from tools.judge.outcome import Outcome
from tools.judge.subjects import Subject
from tools.measures.made import made_pictures
from tools.pictures import Photo

CARD: ModelCard = replace(
    ModelRegistry.load(PROJECT_ROOT / "models").card("hayao"),
    variants=MappingProxyType(
        {"fp32": WeightFile("a.onnx", "a" * 64, 1000), "int8": WeightFile("a8.onnx", "b" * 64, 400)}
    ),
)


class Network:
    """A session that answers with a function of what it is given."""

    def __init__(self, answer: Callable[[Tensor], Tensor]) -> None:
        self.answer = answer

    def run(self, tensor: Tensor) -> Tensor:
        return self.answer(tensor).astype(np.float32)


SAME = Network(lambda tensor: tensor)
BRIGHTER = Network(lambda tensor: tensor + 10 / 127.5)
COARSE = Network(lambda tensor: np.rint(tensor * 8) / 8)
BROKEN = Network(lambda tensor: np.where(tensor > 0, np.nan, tensor))


def photos(count: int = 2) -> list[Photo]:
    """Smooth photos with a few lines in them."""
    rng = np.random.default_rng(4)
    pictures = []
    for number in range(count):
        rgb = next(iter(made_pictures(96, 80).values())).copy()
        rgb[rng.integers(10, 70) :][:3] = 20
        pictures.append(Photo(f"folder/{number}.jpg", rgb))
    return pictures


def made() -> list[Photo]:
    return [Photo(name, rgb) for name, rgb in made_pictures(96, 96).items()]


def compared(b: Network, a: Network = SAME) -> Comparison:
    return compare(Painter(CARD, a), Painter(CARD, b), photos(), made())


def outcome(b: Network, bars: str = "int8", variant: str = "int8") -> Outcome:
    """B judged by a network that changes nothing."""
    comparison = compared(b)
    first, second = (Subject(f"hayao {name}", PROJECT_ROOT / "x", CARD, name) for name in ("fp32", variant))
    judged = judge(parse_bars(bars), comparison.mean, comparison.worst)
    return Outcome(first, second, comparison, judged, 96, 1, "python -m tools.verify a b", date(2026, 11, 30))
