"""How near a student's drawings are to the teacher's, on photos that it never learnt from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, TypeAlias

import cv2
import numpy as np

from app.types import Point, RgbImage
from tools.measures.color import color_shift
from tools.measures.difference import psnr
from tools.measures.planes import Mask, Plane, luma, slope
from tools.measures.similarity import ssim

LINE_DEPTH: Final = 30
"""Levels by which a place is darker than what lies on both its sides, for it to be a line."""

LINE_WINDOW: Final = 7
"""Diameter in px of the black-hat's ellipse."""

FLAT_SLOPE: Final = 1.0
"""Levels a pixel, below which the teacher's drawing is flat."""

EYE_BOX: Final = (80, 56)
MOUTH_BOX: Final = (104, 64)
"""Width and height in px around the features of a face's 512 px square."""

WEAVES: Final = (2, 4, 8)
"""Periods in px of what pixel shuffling and repeating can leave."""

Features: TypeAlias = tuple[Point, Point, Point]
"""Right eye, left eye, mouth."""

Scores: TypeAlias = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Kept:
    """A held-out square. group: the folder its photo lies in. features: of the face, where it shows one."""

    name: str
    group: str
    photo: RgbImage
    wanted: RgbImage
    features: Features | None = None


def line_f1(drawn: RgbImage, wanted: RgbImage) -> float:
    """F1 of the drawing's lines against the teacher's, one pixel of tolerance; 1 where neither has any."""
    ours, theirs = _lines(drawn), _lines(wanted)
    if not ours.any() and not theirs.any():
        return 1.0
    right, found = _share(ours, near=theirs), _share(theirs, near=ours)
    return 2 * right * found / (right + found) if right + found else 0.0


def black_hat(rgb: RgbImage) -> Plane:
    """(H, W) float32, levels: how much darker each place is than what lies on both its sides."""
    ellipse = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (LINE_WINDOW, LINE_WINDOW))
    gray = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    return np.asarray(cv2.morphologyEx(gray, cv2.MORPH_BLACKHAT, ellipse), np.float32)


def _lines(rgb: RgbImage) -> Mask:
    return black_hat(rgb) > LINE_DEPTH


def _share(lines: Mask, near: Mask) -> float:
    around = cv2.dilate(near.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return float(around[lines].mean()) if lines.any() else 0.0


def weave(drawn: RgbImage, wanted: RgbImage) -> Mapping[int, float]:
    """By how many dB the drawing has more than the teacher's at the frequency of each of WEAVES."""
    ours, theirs = _spectrum(drawn), _spectrum(wanted)
    return {period: 10 * float(np.log10(ours[period] / theirs[period])) for period in WEAVES}


def _spectrum(rgb: RgbImage) -> Mapping[int, float]:
    plane = luma(rgb)
    power = np.abs(np.fft.fft2(plane - plane.mean())) ** 2
    return {period: _at_period(power, period) for period in WEAVES}


def _at_period(power: Plane, period: int) -> float:
    """Power where rows, columns or both repeat every ``period`` px, and what lies right beside in the spectrum."""
    down, across = power.shape[0] // period, power.shape[1] // period
    near = (-1, 0, 1)
    rows = [power[(down + k) % power.shape[0], 0] for k in near]
    columns = [power[0, (across + k) % power.shape[1]] for k in near]
    both = [power[(down + k) % power.shape[0], (across + m) % power.shape[1]] for k in near for m in near]
    # A thousandth of a level squared, so that a picture that has nothing there can be compared too.
    return float(np.sum([*rows, *columns, *both])) + 1e-3 * power.size


def flat_grain(drawn: RgbImage, wanted: RgbImage) -> float:
    """Grain of the drawing, in levels (standard deviation), where the teacher's is flat; 0 where nothing is."""
    flat = slope(luma(wanted), 1.5) < FLAT_SLOPE
    plane = luma(drawn)
    grain = plane - cv2.GaussianBlur(plane, (0, 0), 1.5)
    return float(np.sqrt(np.mean(np.square(grain[flat])))) if flat.any() else 0.0


def _weave_key(period: int) -> str:
    return f"weave_{period}"


def score(drawn: RgbImage, kept: Kept) -> Scores:
    """All numbers of one square. ``lines_mean``, ``edges_mean`` and weaves are to be compared over a set."""
    scores = {
        "ssim": ssim(kept.wanted, drawn),
        "psnr": psnr(kept.wanted, drawn),
        "line_f1": line_f1(drawn, kept.wanted),
        "color": color_shift(kept.wanted, drawn),
        **{_weave_key(period): excess for period, excess in weave(drawn, kept.wanted).items()},
        "grain": flat_grain(drawn, kept.wanted),
        "grain_teacher": flat_grain(kept.wanted, kept.wanted),
        "lines_mean": float(black_hat(drawn).mean()),
        "lines_teacher": float(black_hat(kept.wanted).mean()),
        "edges_mean": float(slope(luma(drawn), 0.7).mean()),
        "edges_teacher": float(slope(luma(kept.wanted), 0.7).mean()),
    }
    return scores if kept.features is None else {**scores, **_feature_scores(drawn, kept.wanted, kept.features)}


def _feature_scores(drawn: RgbImage, wanted: RgbImage, features: Features) -> Scores:
    right, left, mouth = features
    eyes = [ssim(_cut(wanted, eye, EYE_BOX), _cut(drawn, eye, EYE_BOX)) for eye in (right, left)]
    return {"eyes": fmean(eyes), "mouth": ssim(_cut(wanted, mouth, MOUTH_BOX), _cut(drawn, mouth, MOUTH_BOX))}


def _cut(rgb: RgbImage, centre: Point, box: tuple[int, int]) -> RgbImage:
    width, height = box
    x = int(np.clip(round(centre.x - width / 2), 0, rgb.shape[1] - width))
    y = int(np.clip(round(centre.y - height / 2), 0, rgb.shape[0] - height))
    return rgb[y : y + height, x : x + width]


def judge(draw: Callable[[RgbImage], RgbImage], kept: Iterable[Kept]) -> Mapping[str, Scores]:
    """Means of each group of squares, by the group's name, as by :func:`summary`."""
    by_group: dict[str, list[Scores]] = {}
    for square in kept:
        by_group.setdefault(square.group, []).append(score(draw(square.photo), square))
    return {group: summary(rows) for group, rows in sorted(by_group.items())}


def summary(rows: Sequence[Scores]) -> Scores:
    """Means over a set.

    ``lines`` and ``edges``: the drawings' mean as a share of the teacher's. ``weave``: the worst of WEAVES' means. Of
    one picture the worst says little: by chance alone one of so few frequencies is above the teacher's.
    """
    means = {key: fmean(row[key] for row in rows) for key in rows[0]}
    means["weave"] = max(means.pop(_weave_key(period)) for period in WEAVES)
    for kind in ("lines", "edges"):
        means[kind] = means.pop(f"{kind}_mean") / max(means.pop(f"{kind}_teacher"), 1e-6)
    return {**means, "squares": float(len(rows))}
