"""Which numbers a network takes and gives for black and white, and in what order colours come.

A style changes lines and flat colours and leaves the large light and dark of a photo where they are. So photos are
sent through at every range, and the answers are compared with the photos after both were made coarse: at the right
ranges they are most alike. A network of no last activation also shows a wrong range by answers that leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from app.inference.card import ChannelOrder
from app.library.findings import Finding, NoStyle
from app.types import RgbImage, Tensor

Range: TypeAlias = tuple[float, float]
Run: TypeAlias = Callable[[Tensor], "Tensor | None"]
"""(H, W, 3) float32 through the network; None where it does not run."""

SIGNED: Final[Range] = (-1.0, 1.0)
RANGES: Final[tuple[Range, ...]] = (SIGNED, (0.0, 1.0), (0.0, 255.0))
"""What networks in use take and give; the first is that of the whole AnimeGAN family."""

ACTIVATION_RANGES: Final[Mapping[str, Range]] = {"Tanh": SIGNED, "Sigmoid": (0.0, 1.0)}
"""What the last operator of a graph proves of its answers."""

CLEARLY: Final = 1.5
"""How many times worse the second best must be to call the best one clear. Five networks (both built-in ones, an INT8
one, AnimeGANv3 Shinkai and tiny Cute) were wrapped into all nine pairs of ranges: 44 of 45 were found, at least 1.8
times better than the next, and the one miss was not clear (1.05)."""

BGR_FACTOR: Final = 0.75
"""Share of RGB's error below which BGR is believed. The same five, turned round, gave 0.76 to 1.0: for most networks
only their author knows."""

_LEAVING_WEIGHT: Final = 2.0
"""A share of values outside the range counts this much against root mean square error in [0, 1]."""

PASSED_ON: Final = 0.01
"""Error below which the photo itself came back. Networks that add what they draw to the photo and whose inner layers
are in 8 bit do that at too large a range: all they draw is cut off (0.002 to 0.005); at the right one they gave 0.036
and more."""

PLAUSIBLE: Final = 0.1
"""Error up to which an answer may be a drawing of the photo."""

_LEAVING_MARGIN: Final = 0.03
_CELL: Final = 8
_LEAST_SPREAD: Final = 0.01
"""Standard deviation, in parts of the range, of an answer that still shows something."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """``input`` and ``output``: the numbers that stand for 0 and 255; ``order`` of the channels; how it is known."""

    input: Range
    output: Range
    order: ChannelOrder
    findings: tuple[Finding, ...]


def find_ranges(
    run: Run,
    photos: Sequence[RgbImage],
    *,
    activation: str | None,
    input_range: Range | None = None,
    output_range: Range | None = None,
    channel_order: ChannelOrder | None = None,
) -> Ranges:
    """The ranges and the channel order of a network.

    photos: of sides it takes. activation: the operator its answer comes from, where the graph tells. input_range,
    output_range, channel_order: as the owner says, where they do. Raises NoStyle where the answer shows nothing
    of the photo at any range.
    """
    proved = ACTIVATION_RANGES.get(activation or "")
    inputs = [input_range] if input_range else RANGES
    outputs = [wanted] if (wanted := output_range or proved) else RANGES
    scores = _drawn(_scores(run, photos, inputs, outputs))
    best, second = _two_best(scores)
    order, order_finding = _find_order(run, photos, best, scores[best], channel_order)
    findings = (
        Finding("input range", _text(best[0]), "as told" if input_range else _why(scores, best, second)),
        Finding("output range", _text(best[1]), _output_why(output_range, activation, proved, scores, best, second)),
        order_finding,
    )
    return Ranges(*best, order, findings)


_Pair: TypeAlias = tuple[Range, Range]


def _scores(
    run: Run, photos: Sequence[RgbImage], inputs: Iterable[Range], outputs: Sequence[Range]
) -> dict[_Pair, float]:
    """By input and output range: how far the answers are from the photos, in parts of the range; lower is better."""
    scores: dict[_Pair, float] = {}
    for input_range in inputs:
        answers = [run(_to_range(photo, input_range)) for photo in photos]
        for output_range in outputs:
            scores[input_range, output_range] = _mean_error(answers, photos, output_range)
    usable = {pair: score for pair, score in scores.items() if np.isfinite(score)}
    if not usable:
        raise NoStyle("its answer is the same for every photo: it draws nothing of what it is shown.")
    return usable


def _drawn(scores: dict[_Pair, float]) -> dict[_Pair, float]:
    """``scores`` without the ranges at which the photo is only passed on, where another one shows a drawing."""
    drawn = {pair: score for pair, score in scores.items() if score >= PASSED_ON}
    return drawn if min(drawn.values(), default=PLAUSIBLE) < PLAUSIBLE else scores


def _mean_error(answers: Sequence[Tensor | None], photos: Sequence[RgbImage], output_range: Range) -> float:
    errors = [_error(answer, photo, output_range) for answer, photo in zip(answers, photos, strict=True)]
    # What differs less is as good as equal, and of equals the first, which is the usual one, is taken.
    return round(float(np.mean(errors)), 3)


def _error(answer: Tensor | None, photo: RgbImage, output_range: Range) -> float:
    if answer is None:
        return float("inf")
    low, high = output_range
    parts = (answer - low) / (high - low)
    shown = np.clip(parts, 0, 1)
    if shown.std() < _LEAST_SPREAD:
        return float("inf")
    leaving = np.mean((parts < -_LEAVING_MARGIN) | (parts > 1 + _LEAVING_MARGIN))
    difference = _coarse(shown) - _coarse(_to_range(photo, (0.0, 1.0)))
    return float(np.sqrt(np.mean(difference**2)) + _LEAVING_WEIGHT * leaving)


def _coarse(picture: Tensor) -> Tensor:
    """The mean of each square of _CELL px, all that is left of lines and textures."""
    down, across = (side // _CELL for side in picture.shape[:2])
    cells = picture[: down * _CELL, : across * _CELL].reshape(down, _CELL, across, _CELL, 3)
    return np.asarray(cells.mean(axis=(1, 3)), np.float32)


def _to_range(photo: RgbImage, target: Range) -> Tensor:
    low, high = target
    return (photo / np.float32(255) * np.float32(high - low) + np.float32(low)).astype(np.float32)


def _two_best(scores: Mapping[_Pair, float]) -> tuple[_Pair, _Pair | None]:
    ranked = sorted(scores, key=scores.__getitem__)
    return ranked[0], ranked[1] if len(ranked) > 1 else None


def _find_order(
    run: Run, photos: Sequence[RgbImage], ranges: _Pair, error: float, wanted: ChannelOrder | None
) -> tuple[ChannelOrder, Finding]:
    if wanted is not None:
        return wanted, Finding("channel order", wanted, "as told")
    turned = [np.ascontiguousarray(photo[..., ::-1]) for photo in photos]
    bgr = _mean_error([run(_to_range(photo, ranges[0])) for photo in turned], turned, ranges[1])
    order: ChannelOrder = "BGR" if bgr < BGR_FACTOR * error else "RGB"
    why = f"off by {error:.3f} as RGB and {bgr:.3f} as BGR"
    if order == "RGB" and bgr < error / BGR_FACTOR:
        why += ", which does not tell them apart, so RGB; --channel-order BGR says otherwise"
    return order, Finding("channel order", order, why)


def _why(scores: Mapping[_Pair, float], best: _Pair, second: _Pair | None) -> str:
    if second is None:
        return f"off by {scores[best]:.3f}"
    why = f"off by {scores[best]:.3f}; next best {_text(second[0])} to {_text(second[1])}, off by {scores[second]:.3f}"
    return why if scores[second] > CLEARLY * scores[best] else f"{why}: close, so look at the pictures"


def _output_why(
    wanted: Range | None,
    activation: str | None,
    proved: Range | None,
    scores: Mapping[_Pair, float],
    best: _Pair,
    second: _Pair | None,
) -> str:
    if wanted is not None:
        return "as told"
    return f"it ends in {activation}" if proved else _why(scores, best, second)


def _text(numbers: Range) -> str:
    return f"[{numbers[0]:g}, {numbers[1]:g}]"
