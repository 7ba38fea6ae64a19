"""How long a style's network takes here, by trying: what decides whether a machine is a slow one."""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from app.inference.card import ModelCard
from app.inference.registry import Style
from app.inference.session import OrtSession
from app.types import Session

USUAL_PIXELS: Final = 768 * 576
"""A phone's photo, brought to the usual size."""

_SIDE: Final = 256
"""Of what is tried: a sixth of the work, and time grows in proportion to the pixels (docs/models.md)."""

_RUNS: Final = 3
"""The first of them also finds its memory; the quickest counts, since other work can only slow it down."""


def seconds_a_picture(style: Style, *, threads: int, provider: str = "cpu") -> float:
    """Seconds that the network of ``style`` takes for USUAL_PIXELS, in a session of its own that is gone afterwards.

    Raises ModelError where the network cannot be loaded.
    """
    return timed(OrtSession(style.path, style.card, threads=threads, provider=provider), style.card)


def timed(session: Session, card: ModelCard) -> float:
    """Seconds that ``session``, of ``card``, takes for USUAL_PIXELS."""
    width, height = card.sizes.padded(_SIDE, _SIDE)
    sides = {"N": 1, "C": 3, "H": height, "W": width}
    picture = np.zeros([sides[axis] for axis in card.layout], np.float32)
    times = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        session.run(picture)
        times.append(time.perf_counter() - start)
    return min(times) * USUAL_PIXELS / (width * height)
