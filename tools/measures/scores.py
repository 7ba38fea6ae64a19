"""All measures of one pair, and what each of them means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Final, TypeAlias

from app.types import RgbImage
from tools.measures.banding import banding
from tools.measures.color import color_shift
from tools.measures.difference import max_error, mean_error, psnr
from tools.measures.edges import edge_agreement
from tools.measures.grid import blockiness, checkerboard
from tools.measures.similarity import gmsd, ssim

Scores: TypeAlias = Mapping[str, float]
"""Key of a measure -> its number."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure. digits: decimal places worth showing. higher_is_better: else lower is.

    best: what it is for two equal pictures.
    """

    title: str
    unit: str
    digits: int
    higher_is_better: bool
    best: float
    of: Callable[[RgbImage, RgbImage], float]

    def worst(self, values: Iterable[float]) -> float:
        """The worst of ``values``, of which there is one at least."""
        return min(values) if self.higher_is_better else max(values)

    def shown(self, value: float) -> str:
        """``value`` for a table."""
        return f"{value:.{self.digits}f}"


MEASURES: Final[Mapping[str, Measure]] = {
    "ssim": Measure("SSIM", "", 4, True, 1, ssim),
    "psnr": Measure("PSNR", "dB", 1, True, math.inf, psnr),
    "gmsd": Measure("GMSD", "", 4, False, 0, gmsd),
    "color": Measure("colour shift", "ΔE2000", 2, False, 0, color_shift),
    "banding": Measure("banding", "levels", 2, False, 0, banding),
    "blockiness": Measure("blockiness", "levels", 2, False, 0, blockiness),
    "checkerboard": Measure("checkerboard", "levels", 2, False, 0, checkerboard),
    "edges": Measure("edge agreement", "F1", 3, True, 1, edge_agreement),
    "mean_error": Measure("mean error", "levels", 2, False, 0, mean_error),
    "max_error": Measure("largest error", "levels", 0, False, 0, max_error),
}
"""By the key that options, JSON and cards use, in the order of tables."""


def score(a: RgbImage, b: RgbImage, keys: Iterable[str] = tuple(MEASURES)) -> Scores:
    """The measures ``keys`` of B against A, of one size, each side at least 11 px."""
    return {key: MEASURES[key].of(a, b) for key in keys}


def mean_scores(scores: Iterable[Scores]) -> Scores:
    """The mean of each measure; the PSNR of a set is infinite where one picture's is."""
    table = list(scores)
    return {key: fmean(row[key] for row in table) for key in table[0]}


def worst_scores(scores: Iterable[Scores]) -> Scores:
    """The worst of each measure."""
    table = list(scores)
    return {key: MEASURES[key].worst(row[key] for row in table) for key in table[0]}
