"""Every model of a bundle run here, against the style's own file: how far off it is, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from app.imaging.sizing import SizeRequirements
from app.inference.card import ModelCard
from app.inference.stylizer import Stylizer
from app.types import RgbImage, Session, Tensor
from tools.judge.bars import BAR_SETS, Bar, judge
from tools.measures.scores import Scores, mean_scores, score, worst_scores
from tools.phone.parts import PhoneModel
from tools.phone.sizes import Size, size_name

KEYS: Final = ("mean_error", "max_error", "ssim", "banding")
"""Measures taken: the two that tell a wrong conversion, and the two that 8 bit fails first."""

BARS: Final[Mapping[str, str]] = {"fp16": "fp16", "int8": "int8"}
"""Set of bars by precision; what is neither must be equal."""

ROUNDS: Final = 5
MOST_SECONDS: Final = 1.5
"""Runs that are timed: so many, but none more once they have taken this long together."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one model at one size.

    mean: over the photos. worst: over all pictures. milliseconds: by number of threads, the best of a few runs. failed:
    the bars it missed, in words.
    """

    model: PhoneModel
    size: Size
    mean: Scores
    worst: Scores
    milliseconds: Mapping[int, float]
    failed: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of the model, as people find it in the bundle, and the size."""
        return f"{self.model.format}/{self.model.files[0].name} at {size_name(self.size)}"


@dataclass(frozen=True, slots=True)
class TrialPictures:
    """Pictures of one size: photos, and gradients that are made, on which 8 bit fails first."""

    photos: Sequence[RgbImage]
    made: Sequence[RgbImage]

    @property
    def all(self) -> tuple[RgbImage, ...]:
        """Both, the photos first."""
        return (*self.photos, *self.made)


def fixed_card(card: ModelCard, size: Size) -> ModelCard:
    """``card`` of a network that takes pictures of ``size`` alone."""
    return replace(card, sizes=SizeRequirements(1, 1, size))


def try_models(
    card: ModelCard,
    reference: Session,
    models: Sequence[PhoneModel],
    pictures: Mapping[Size, TrialPictures],
    threads: Sequence[int],
) -> Iterator[Trial]:
    """Each model at each size it takes, on the ``pictures`` of that size, run by the code that serves.

    reference: the style's own file. threads: numbers of threads to time.
    """
    for size, some in pictures.items():
        wanted = _drawn(card, size, reference, some.all)
        for model in models:
            if model.takes(size):
                yield _try(card, model, size, some, wanted, threads)


def _try(
    card: ModelCard,
    model: PhoneModel,
    size: Size,
    pictures: TrialPictures,
    wanted: Sequence[RgbImage],
    threads: Sequence[int],
) -> Trial:
    drawn = _drawn(card, size, model.open(threads[-1]), pictures.all)
    scores = [score(ours, theirs, KEYS) for ours, theirs in zip(wanted, drawn, strict=True)]
    mean, worst = mean_scores(scores[: len(pictures.photos)]), worst_scores(scores)
    times = {count: milliseconds(card, size, model.open(count)) for count in threads}
    missed = (judged for judged in judge(bars_for(model.precision), mean, worst) if not judged.passed)
    return Trial(model, size, mean, worst, times, tuple(f"{judged.bar}, not {judged.value:.3g}" for judged in missed))


def bars_for(precision: str) -> tuple[Bar, ...]:
    """What a model must reach, of the measures taken here."""
    return tuple(bar for bar in BAR_SETS[BARS.get(precision, "equal")] if bar.key in KEYS)


def _drawn(card: ModelCard, size: Size, session: Session, pictures: Sequence[RgbImage]) -> list[RgbImage]:
    stylizer = Stylizer(fixed_card(card, size), session)
    return [stylizer.stylize(rgb) for rgb in pictures]


def milliseconds(card: ModelCard, size: Size, session: Session) -> float:
    """Of one run for a gray picture: the best of a few, since other work on the machine only ever adds."""
    width, height = size
    shape = (1, 3, height, width) if card.layout == "NCHW" else (1, height, width, 3)
    gray = np.zeros(shape, np.float32)
    session.run(gray)
    times: list[float] = []
    while len(times) < ROUNDS and sum(times) < MOST_SECONDS:
        times.append(_seconds(session, gray))
    return min(times) * 1000


def _seconds(session: Session, tensor: Tensor) -> float:
    start = time.perf_counter()
    session.run(tensor)
    return time.perf_counter() - start
