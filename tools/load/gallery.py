"""Photos as phones send them, as many as are wanted and no two alike, made from the samples of the page."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import simplejpeg
from PIL import Image

from app.config import PROJECT_ROOT
from app.types import RgbImage

_SAMPLES: Final = PROJECT_ROOT / "static" / "samples"
_QUALITY: Final = 88


@dataclass(frozen=True, slots=True)
class Kind:
    """One size that photos come in. share: how many of all have it, in any unit. width, height: upright, in pixels."""

    name: str
    share: float
    width: int
    height: int


MIXES: Final[dict[str, tuple[Kind, ...]]] = {
    # From the messengers, which make pictures smaller, from front cameras and from main ones.
    "phones": (
        Kind("messenger", 45, 960, 1280),
        Kind("small", 25, 720, 960),
        Kind("front camera", 22, 2316, 3088),
        Kind("main camera", 8, 3024, 4032),
    ),
    "small": (Kind("small", 1, 720, 960),),
    "large": (Kind("main camera", 1, 3024, 4032),),
}
"""What people send, by the name a person gives at the command line."""

VARIETY: Final = 100_000
"""Photos so many numbers apart are alike but for their mark, so that each stage of a test gets the same work anew."""

SUBJECTS: Final = {"astronaut": 70, "cat": 15, "coffee": 15}
"""Which sample, and how often: selfies above all."""


def photo(number: int, kinds: Sequence[Kind]) -> bytes:
    """Photo ``number``, as JPEG: the same for the same number and kinds, and other pixels for every other number."""
    chance = random.Random(number % VARIETY)  # noqa: S311
    kind = chance.choices(kinds, [kind.share for kind in kinds])[0]
    sample = _sample(chance.choices(list(SUBJECTS), list(SUBJECTS.values()))[0])
    return _as_jpeg(_framed(sample, kind, chance), chance, number)


@cache
def _sample(name: str) -> Image.Image:
    return Image.open(_SAMPLES / f"{name}.jpg").convert("RGB")


def _framed(sample: Image.Image, kind: Kind, chance: random.Random) -> RgbImage:
    """A part of ``sample`` in the ratio of ``kind`` and at its size."""
    ratio = kind.width / kind.height
    height = min(sample.height, sample.width / ratio) * chance.uniform(0.8, 1.0)
    left = chance.uniform(0, sample.width - height * ratio)
    top = chance.uniform(0, (sample.height - height) / 2)
    frame = (left, top, left + height * ratio, top + height)
    enlarged = sample.resize((kind.width, kind.height), Image.Resampling.BILINEAR, frame)
    return np.array(enlarged.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if chance.random() < 0.5 else enlarged)


def _as_jpeg(pixels: RgbImage, chance: random.Random, number: int) -> bytes:
    # A few blocks in a corner carry the number, so that no two photos are the same picture, however alike.
    digits = np.array([255 * (number >> bit & 1) for bit in range(32)], np.uint8).repeat(8)
    pixels[:8, : len(digits)] = digits[None, :, None]
    return bytes(simplejpeg.encode_jpeg(pixels, _QUALITY, colorsubsampling="420"))
