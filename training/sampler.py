"""What a step sees: small squares at random places of the pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import torch
from torch import Tensor

from app.types import RgbImage
from training.pairs import Pair

Load: TypeAlias = Callable[[int], Pair]

FEATURES_AT: Final = ((0.5, 0.43), (0.5, 0.66))
"""(x, y) in sides of a face's square: between the eyes, and the mouth, where the service puts them."""

FEATURES_SPREAD: Final = 0.06
"""How far around them squares are centred, in sides: one standard deviation."""

Batch: TypeAlias = tuple[Tensor, Tensor]
"""Photos and drawings, both (N, 3, crop, crop) float32 in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """count: of pairs. load: one of them. focus: share of squares around the features of faces."""

    count: int
    load: Load
    batch: int
    crop: int
    seed: int
    focus: float = 0.0

    def at(self, step: int) -> Batch:
        """The batch of ``step``: the same one whenever and however often it is asked for."""
        random = np.random.default_rng((self.seed, step))
        cuts = [self._cut(random) for _ in range(self.batch)]
        photos, drawings = zip(*cuts, strict=True)
        return as_tensor(photos), as_tensor(drawings)

    def _cut(self, random: np.random.Generator) -> Pair:
        pair = self.load(int(random.integers(self.count)))
        y, x = self._corner(pair.shape[1], random), self._corner(pair.shape[2], random)
        if random.random() < self.focus:
            x, y = self._near_features(pair.shape[2], pair.shape[1], random)
        cut = pair[:, y : y + self.crop, x : x + self.crop]
        return cut[:, :, ::-1] if random.random() < 0.5 else cut

    def _corner(self, length: int, random: np.random.Generator) -> int:
        return int(random.integers(0, length - self.crop, endpoint=True))

    def _near_features(self, width: int, height: int, random: np.random.Generator) -> tuple[int, int]:
        place = np.array(FEATURES_AT[int(random.integers(len(FEATURES_AT)))])
        centre = (place + random.normal(0, FEATURES_SPREAD, 2)) * (width, height)
        corner = np.clip(np.rint(centre - self.crop / 2), 0, np.array([width, height]) - self.crop)
        return int(corner[0]), int(corner[1])


def as_tensor(pictures: Sequence[RgbImage]) -> Tensor:
    """(N, 3, H, W) float32 in [-1, 1] of (H, W, 3) uint8 each."""
    stacked = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)
    return stacked.to(torch.float32).div(127.5).sub(1).contiguous()
