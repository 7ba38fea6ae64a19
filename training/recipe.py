"""How one student is taught: everything that decides what comes of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from training.losses import LossWeights

WARM_STEPS: Final = 100
"""Over which the rate rises from nothing: Adam's first estimates are poor."""

LAST_RATE: Final = 0.01
"""The rate at the end, as a share of the highest."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """size: of SIZES. steps or hours: how long; one of them. batch: squares a step. crop: side of a square in px.

    rate: of AdamW at its highest. The rate falls along a cosine (Loshchilov, Hutter: SGDR, ICLR 2017). branches:
    whether convolutions have them. focus: share of squares around eyes and mouths, for faces. made_from: what decides
    the pairs, so that a state is not gone on with on others. start_from: SHA-256 of the weights it starts from.
    """

    size: str
    steps: int | None
    hours: float | None
    made_from: str
    pairs: int
    batch: int = 8
    crop: int = 192
    rate: float = 2e-3
    decay: float = 1e-4
    seed: int = 0
    branches: bool = True
    focus: float = 0.0
    start_from: str | None = None
    weights: LossWeights = field(default_factory=LossWeights)

    def progress(self, steps: int, seconds: float) -> float:
        """Share of the time that is over, in [0, 1]."""
        done = steps / self.steps if self.steps is not None else seconds / 3600 / (self.hours or math.inf)
        return min(1.0, done)

    def rate_at(self, step: int, progress: float) -> float:
        """Of AdamW."""
        fall = LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * progress))
        return self.rate * min(1.0, (step + 1) / WARM_STEPS) * fall

    def as_dict(self) -> dict[str, Any]:
        """For JSON, and to compare with what a state was saved of."""
        return asdict(self)
