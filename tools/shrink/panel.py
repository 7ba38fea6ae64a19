"""The panel: pictures on which every made file is held against the FP32 network, by the code that serves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np

from app.imaging.sizing import resize
from app.inference.card import ModelCard
from app.inference.session import OrtSession
from app.inference.stylizer import Stylizer
from app.types import RgbImage, Tensor
from tools.judge.bars import Bar, Judged, judge
from tools.judge.comparison import Painter, Painting
from tools.measures.made import made_pictures
from tools.measures.scores import Scores, mean_scores, score, worst_scores
from tools.pictures import Photo
from tools.shrink.clock import Time, in_turn, medians


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a file lost against FP32. mean: of the photos. worst: of all pictures, the made ones among them.

    broken: names of the pictures on which it alone answered with what is no number.
    """

    mean: Scores
    worst: Scores
    judged: tuple[Judged, ...]
    broken: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """All bars met, and no picture broken."""
        return not self.broken and all(judged.passed for judged in self.judged)

    @property
    def strain(self) -> float:
        """How near it comes to the bar that is nearest: 1 just meets it. Infinite where a picture is broken."""
        return math.inf if self.broken else max((judged.strain for judged in self.judged), default=0.0)

    @property
    def faults(self) -> str:
        """What was missed, for a sentence."""
        missed = [f"{judged.bar} (is {judged.value:.4g})" for judged in self.judged if not judged.passed]
        return ", ".join([*missed, *(f"no numbers on {name}" for name in self.broken)])


class Panel:
    """reference: the FP32 file. side: of the made gradients, in px. threads: of every run."""

    def __init__(self, card: ModelCard, reference: Path, photos: Sequence[Photo], *, side: int, threads: int) -> None:
        self.card = card
        self.reference = reference
        self.threads = threads
        self.photos = photos
        self._pictures = [*photos, *(Photo(name, rgb) for name, rgb in made_pictures(side, side).items())]
        self._wanted = {photo.name: painting for photo, painting in self._paint(reference, self._pictures)}
        self.tensors = feeds(card, [photo.rgb for photo in photos])
        self.proofs = [*self.tensors[:2], *feeds(card, [_smaller(photos[0].rgb)])]
        """Tensors on which a network must answer as before, of two sizes where it takes more than one."""

    def judge(self, path: Path, bars: Sequence[Bar]) -> Verdict:
        """The network in ``path`` on all pictures."""
        scores: dict[str, Scores] = {}
        broken = []
        for photo, drawn in self._paint(path, self._pictures):
            wanted = self._wanted[photo.name]
            scores[photo.name] = score(wanted.rgb, drawn.rgb)
            if wanted.finite and not drawn.finite:
                broken.append(photo.name)
        mean, worst = mean_scores(scores[photo.name] for photo in self.photos), worst_scores(scores.values())
        return Verdict(mean, worst, judge(bars, mean, worst), tuple(broken))

    def error(self, path: Path, photos: int) -> float:
        """Mean square of the difference, in levels², on the first ``photos`` photos and the made gradients.

        Photos alone would hide what a node does to a clear sky.
        """
        pictures = [*self.photos[:photos], *self._pictures[len(self.photos) :]]
        return fmean(_square(self._wanted[photo.name], drawn) for photo, drawn in self._paint(path, pictures))

    def times(self, paths: Sequence[Path], rounds: int) -> list[Time]:
        """How long each file takes, run in turn with the reference on the first photo's tensor."""
        sessions = [OrtSession(path, self.card, threads=self.threads) for path in (self.reference, *paths)]
        tensor = self.tensors[0]
        return medians(in_turn([partial(session.run, tensor) for session in sessions], rounds))[1:]

    def _paint(self, path: Path, photos: Iterable[Photo]) -> Iterable[tuple[Photo, Painting]]:
        painter = Painter(self.card, OrtSession(path, self.card, threads=self.threads))
        return [(photo, painter.paint(photo.rgb)) for photo in photos]


def _smaller(rgb: RgbImage) -> RgbImage:
    height, width = rgb.shape[:2]
    return resize(rgb, width * 3 // 4, height * 3 // 4)


def _square(wanted: Painting, drawn: Painting) -> float:
    return float(np.square(wanted.rgb.astype(np.float32) - drawn.rgb).mean(dtype=np.float64))


def feeds(card: ModelCard, pictures: Iterable[RgbImage]) -> list[Tensor]:
    """The very tensors on which the service runs a network for ``pictures``; of tiles, those of each."""
    recorder = _Recorder()
    stylizer = Stylizer(card, recorder)
    for rgb in pictures:
        stylizer.stylize(rgb)
    return recorder.tensors


class _Recorder:
    """A network that answers with what it was asked, and keeps it."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []

    def run(self, tensor: Tensor) -> Tensor:
        """``tensor`` itself."""
        self.tensors.append(tensor.copy())
        return tensor
