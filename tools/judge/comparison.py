"""Two networks over the same pictures: what came of it, picture by picture."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from app.inference.card import ModelCard
from app.inference.stylizer import Stylizer
from app.types import RgbImage, Session, Tensor
from tools.measures.scores import Scores, mean_scores, score, worst_scores
from tools.pictures import Photo

ROUNDS: Final = 2
"""Times each picture goes through each network; the quicker counts: the first of a new shape sets up its memory."""


class Painter:
    """A network that is judged: as it serves, and with a look at whether its numbers are numbers.

    clock: seconds; a test brings its own.
    """

    def __init__(self, card: ModelCard, session: Session, clock: Callable[[], float] = time.perf_counter) -> None:
        self._watch = _Watch(session)
        self._stylizer = Stylizer(card, self._watch)
        self._clock = clock

    def paint(self, rgb: RgbImage) -> Painting:
        """``rgb`` painted, with the time it took."""
        self._watch.finite = True
        start = self._clock()
        painted = self._stylizer.stylize(rgb)
        return Painting(painted, self._clock() - start, self._watch.finite)


@dataclass(frozen=True, slots=True)
class Painting:
    """What a network made. seconds: it took. finite: whether all that it answered were numbers."""

    rgb: RgbImage
    seconds: float
    finite: bool


class _Watch:
    """Passes tensors on and remembers whether one that came back held infinities or none-numbers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.finite = True

    def run(self, tensor: Tensor) -> Tensor:
        """As the session's own."""
        answer = self._session.run(tensor)
        self.finite &= bool(np.isfinite(answer).all())
        return answer


@dataclass(frozen=True, slots=True)
class Row:
    """One picture. made: a made test picture, not a photo."""

    photo: Photo
    made: bool
    a: Painting
    b: Painting
    scores: Scores


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pictures, photos first."""

    rows: tuple[Row, ...]

    @property
    def mean(self) -> Scores:
        """Of the photos; of the made pictures where there is no photo."""
        photos = [row.scores for row in self.rows if not row.made]
        return mean_scores(photos or [row.scores for row in self.rows])

    @property
    def worst(self) -> Scores:
        """Of all pictures."""
        return worst_scores(row.scores for row in self.rows)

    @property
    def time_ratio(self) -> float:
        """How long B takes for what takes A one: the median over the pictures."""
        return median(row.b.seconds / row.a.seconds for row in self.rows)

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the pictures on which B's answer held what is no number and A's did not."""
        return tuple(row.photo.name for row in self.rows if row.a.finite and not row.b.finite)


def compare(a: Painter, b: Painter, photos: Iterable[Photo], made: Iterable[Photo]) -> Comparison:
    """Run both over all pictures and measure B against A."""
    rows = [*_rows(a, b, photos, made=False), *_rows(a, b, made, made=True)]
    return Comparison(tuple(rows))


def _rows(a: Painter, b: Painter, photos: Iterable[Photo], *, made: bool) -> Iterator[Row]:
    for photo in photos:
        first, second = _paint_both(a, b, photo.rgb)
        yield Row(photo, made, first, second, score(first.rgb, second.rgb))


def _paint_both(a: Painter, b: Painter, rgb: RgbImage) -> tuple[Painting, Painting]:
    # By turns, so that a busy moment of the machine hits both.
    rounds = [(a.paint(rgb), b.paint(rgb)) for _ in range(ROUNDS)]
    first, second = (min(paintings, key=lambda painting: painting.seconds) for paintings in zip(*rounds, strict=True))
    return first, second
