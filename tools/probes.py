"""What exported networks are tried on: the sample photos, made gradients, and a flat picture."""

from __future__ import annotations

from typing import Final

import numpy as np

from app.imaging.sizing import resize
from app.types import RgbImage, Tensor
from tools.measures.made import made_pictures
from tools.pictures import DEFAULT_FOLDERS, find_photos, load_photos

SAMPLES: Final = DEFAULT_FOLDERS[:1]
"""The photos that come with the project, so that everybody tries the same ones."""

_LONGEST: Final = 512


def probes(width: int, height: int) -> list[RgbImage]:
    """Pictures of ``width`` x ``height`` px, photos first. Photos are stretched: only the numbers matter here."""
    photos = (resize(photo.rgb, width, height) for photo in load_photos(find_photos(SAMPLES), _LONGEST))
    return [*photos, *made_pictures(width, height).values()]


def as_tensor(pictures: list[RgbImage]) -> Tensor:
    """(N, 3, H, W) float32 in [-1, 1] of pictures of one size."""
    stacked = np.stack(pictures).astype(np.float32) / 127.5 - 1
    return np.ascontiguousarray(stacked.transpose(0, 3, 1, 2))


def flat(width: int, height: int) -> Tensor:
    """One picture without any variation, exactly 0, (1, 3, H, W): norms divide by its spread."""
    return np.zeros((1, 3, height, width), np.float32)
