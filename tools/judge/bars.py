"""Bars: what a measure must reach for a verdict to pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from tools.command import ToolError
from tools.measures.scores import MEASURES, Scores

Pool: TypeAlias = Literal["mean", "worst"]


@dataclass(frozen=True, slots=True)
class Bar:
    """``key`` of MEASURES must be at least (where higher is better) or at most ``limit``.

    pool: in the mean of the photos, or in the worst of all pictures, the made ones among them.
    """

    key: str
    pool: Pool
    limit: float

    def met(self, value: float) -> bool:
        """Whether ``value`` passes. What is no number does not."""
        return value >= self.limit if MEASURES[self.key].higher_is_better else value <= self.limit

    def strain(self, value: float) -> float:
        """The share of what the bar allows that ``value`` uses up: 0 is perfect, above 1 is a miss, NaN counts so."""
        best = MEASURES[self.key].best
        if math.isinf(best):
            return self.limit / value if value > 0 else math.inf
        used, allowed = abs(best - value), abs(best - self.limit)
        if math.isnan(used) or (used and not allowed):
            return math.inf
        return used / allowed if used else 0.0

    def __str__(self) -> str:
        sign = ">=" if MEASURES[self.key].higher_is_better else "<="
        return f"{self.pool} {self.key} {sign} {self.limit:g}"


BAR_SETS: Final[Mapping[str, tuple[Bar, ...]]] = {
    # A converted or simplified network computes the same: what is left is the rounding of its last digit.
    "equal": (Bar("max_error", "worst", 1),),
    # Half precision has 11 bits where a picture has 8.
    "fp16": (
        Bar("ssim", "mean", 0.995),
        Bar("ssim", "worst", 0.99),
        Bar("color", "worst", 0.5),
        Bar("banding", "worst", 0.5),
    ),
    # No difference to be seen side by side: colours within a just noticeable difference (CIEDE2000 of 1) in the mean,
    # and no bands: on the made skin a reading of 1.4 showed as blotches, one of 0.4 did not. The largest error is for
    # what means do not see, a few pixels: 44 to 51 levels showed as a veil on the whites of eyes, 24 did not.
    "int8": (
        Bar("ssim", "mean", 0.98),
        Bar("ssim", "worst", 0.97),
        Bar("color", "mean", 1),
        Bar("color", "worst", 2),
        Bar("banding", "mean", 0.5),
        Bar("banding", "worst", 1),
        Bar("blockiness", "worst", 0.5),
        Bar("checkerboard", "worst", 1),
        Bar("edges", "mean", 0.95),
        Bar("max_error", "worst", 32),
    ),
}
"""Bars for what is usually asked, by name."""

DEFAULT_BARS: Final = "int8"


@dataclass(frozen=True, slots=True)
class Judged:
    """A bar and what was measured."""

    bar: Bar
    value: float

    @property
    def passed(self) -> bool:
        """Whether the bar is met."""
        return self.bar.met(self.value)

    @property
    def strain(self) -> float:
        """As :meth:`Bar.strain`."""
        return self.bar.strain(self.value)


def judge(bars: Sequence[Bar], mean: Scores, worst: Scores) -> tuple[Judged, ...]:
    """Each of ``bars`` against the scores of its pool."""
    pools: dict[Pool, Scores] = {"mean": mean, "worst": worst}
    return tuple(Judged(bar, pools[bar.pool][bar.key]) for bar in bars)


def parse_bars(text: str) -> tuple[Bar, ...]:
    """The bars ``text`` names, sets and single ones, comma by comma: ``fp16`` or ``int8,banding=0.5,worst:ssim=0.9``.

    A single bar is of the mean unless it says ``worst:``; it takes the place of the same one of a set before it.
    Raises ToolError for what is neither.
    """
    bars: dict[tuple[str, Pool], Bar] = {}
    for item in text.split(","):
        for bar in BAR_SETS.get(item.strip()) or (_parse_bar(item.strip()),):
            bars[bar.key, bar.pool] = bar
    return tuple(bars.values())


def _parse_bar(text: str) -> Bar:
    name, _, number = text.partition("=")
    first, colon, rest = name.partition(":")
    key = rest if colon else first
    pool = next((pool for pool in get_args(Pool) if pool == (first if colon else "mean")), None)
    if key not in MEASURES or pool is None:
        raise ToolError(f"“{text}” is no bar. Sets: {', '.join(BAR_SETS)}; measures: {', '.join(MEASURES)}.")
    return Bar(key, pool, _number(text, number))


def _number(bar: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise ToolError(f"Bar “{bar}” has no number: write it like ssim=0.98 or worst:banding=1.")
    return number
