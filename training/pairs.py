"""Photo and teacher's drawing, made once and kept: the teacher is far slower than the student."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from app.types import RgbImage
from tools.command import ToolError, whole_file
from training.augment import spoiled
from training.crops import Cut
from training.photos import UnreadablePhoto, load_photo
from training.teacher import Draw

DESCRIPTION: Final = "pairs.json"

_DULL: Final = 1.0
"""Standard deviation in levels below which a square shows nothing; norms of teachers divide by it."""

Pair: TypeAlias = npt.NDArray[np.uint8]
"""(2, SIDE, SIDE, 3) uint8: the photo and the drawing."""


@dataclass(slots=True)
class PairFolder:
    """Pairs of one teacher, one way of cutting and one seed: pair N is the same whenever it is made.

    skipped: what could not be used, by a sentence that names the photo. Raises ToolError where ``folder`` has pairs
    of another teacher or another way.
    """

    folder: Path
    made_by: str
    seed: int
    skipped: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        description = self.folder / DESCRIPTION
        ours = {"made_by": self.made_by, "seed": self.seed}
        if not description.exists():
            with whole_file(description) as part:
                part.write_text(json.dumps(ours))
        elif json.loads(description.read_text()) != ours:
            raise ToolError(f"{self.folder} has pairs that were made in another way; name an empty folder.")

    def path(self, index: int) -> Path:
        """Where pair ``index`` is kept."""
        return self.folder / f"{index:06d}.npy"

    def load(self, index: int) -> Pair:
        """Pair ``index``, read as it is needed."""
        pair: Pair = np.load(self.path(index), mmap_mode="r")
        return pair

    def missing(self, count: int) -> list[int]:
        """Which of the first ``count`` pairs are still to be made."""
        return [index for index in range(count) if not self.path(index).exists()]

    def make(self, index: int, photos: Sequence[Path], cut: Cut, draw: Draw) -> None:
        """Make pair ``index`` from one of ``photos`` and keep it.

        The photos take turns in an order that the seed shuffles. One that cannot be read or has nothing to cut gives
        its turn to the next. Raises ToolError where no photo can be used.
        """
        random = np.random.default_rng((self.seed, index))
        square = self._square(index, photos, cut, random)
        pair = np.stack([square, draw(square)])
        with whole_file(self.path(index)) as part:
            np.save(part, pair)

    def _square(self, index: int, photos: Sequence[Path], cut: Cut, random: np.random.Generator) -> RgbImage:
        for path in _turns(photos, index, self.seed):
            try:
                square = cut(load_photo(path), random)
            except UnreadablePhoto as error:
                self._skip(str(error))
                continue
            if square is not None and square.std() > _DULL:
                return spoiled(square, random)
        raise ToolError("None of the photos can be learnt from.")

    def _skip(self, sentence: str) -> None:
        if sentence not in self.skipped:
            self.skipped.append(sentence)


def _turns(photos: Sequence[Path], index: int, seed: int) -> Sequence[Path]:
    """All ``photos``, the one whose turn it is first, each round in another order."""
    turn, place = divmod(index, len(photos))
    order = np.random.default_rng((seed, 1 << 32, turn)).permutation(len(photos))
    return [photos[k] for k in np.roll(order, -place)]


def make_all(
    pairs: PairFolder, count: int, photos: Sequence[Path], cut: Cut, draw: Draw, tell: Callable[[int], object]
) -> None:
    """Make what is missing of the first ``count`` pairs; ``tell`` hears how many more are done."""
    for index in pairs.missing(count):
        pairs.make(index, photos, cut, draw)
        tell(1)
