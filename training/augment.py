"""What happens to photos on their way here, done to the photos that are learnt from.

The teacher sees the changed photo too: the student learns what a good drawing of a bad photo is, not to mend photos.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from app.types import RgbImage

Floats: TypeAlias = npt.NDArray[np.float32]

CHANGED_SHARE: Final = 0.4
"""Of the photos; the rest stays as it is, because most uploads are decent."""

EXPOSURE: Final = (0.5, 1.9)
"""Factor on linear light, drawn evenly in its logarithm: one stop down, nearly one up."""

WARMTH: Final = 0.14
"""Largest change of red against blue: white balance off by lamplight or shade."""

NOISE: Final = (1.5, 9.0)
"""Standard deviation in levels: a phone's sensor in the evening."""

JPEG_QUALITY: Final = (35, 88)
"""Messengers send about 70, old pages less."""

DARK_EXPOSURE: Final = (0.12, 0.4)
"""Factor on linear light indoors at night."""


def spoiled(rgb: RgbImage, random: np.random.Generator) -> RgbImage:
    """``rgb``, (H, W, 3) uint8, with changed light, noise or compression, or, mostly, itself."""
    if random.random() >= CHANGED_SHARE:
        return rgb
    dark = random.random() < 0.2
    light = _linear(rgb) * _exposure(random, DARK_EXPOSURE if dark else EXPOSURE) * _white_balance(random)
    levels = _levels(light)
    if dark or random.random() < 0.4:
        levels = levels + random.normal(0.0, random.uniform(*NOISE), rgb.shape).astype(np.float32)
    result = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
    return _compressed(result, random) if random.random() < 0.5 else result


def _exposure(random: np.random.Generator, bounds: tuple[float, float]) -> np.float32:
    low, high = np.log(bounds)
    return np.float32(np.exp(random.uniform(low, high)))


def _white_balance(random: np.random.Generator) -> Floats:
    warmth = random.uniform(-WARMTH, WARMTH)
    return np.array([1 + warmth, 1, 1 - warmth], np.float32)


def _linear(rgb: RgbImage) -> Floats:
    # A power is close enough to the curve of IEC 61966-2-1 for light that nobody has measured.
    return np.asarray((rgb.astype(np.float32) / 255) ** 2.2, np.float32)


def _levels(light: Floats) -> Floats:
    return np.asarray(255 * np.clip(light, 0, 1) ** (1 / 2.2), np.float32)


def _compressed(rgb: RgbImage, random: np.random.Generator) -> RgbImage:
    quality = int(random.integers(*JPEG_QUALITY, endpoint=True))
    _, data = cv2.imencode(".jpg", rgb[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    # By cv2.imdecode's types a picture may be missing; what imencode has just made is none that it refuses.
    return np.ascontiguousarray(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)[:, :, ::-1])
