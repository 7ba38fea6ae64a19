"""What a network's runs take of memory, by trying."""

from __future__ import annotations

from typing import Final

import numpy as np

from app.inference.card import ModelCard
from app.inference.memory import resident_memory
from app.types import Session

LEAST_RUN_BYTES: Final = 130.0
"""A pixel; what the built-in networks take (docs/performance/admission.md). Less is not believed: memory that other
work has just freed hides what a run takes."""

_SIDE: Final = 256


def run_bytes(session: Session, card: ModelCard) -> float:
    """Bytes for each pixel of a run, by how much the process grows in the first run of ``session``.

    Memory grows in proportion to the pixels (measured from 256 to 1024 px). To be asked before any other
    run of ``session``, and when what other networks' runs have left was given back: it would be taken first.
    """
    width, height = card.sizes.padded(_SIDE, _SIDE)
    sides = {"N": 1, "C": 3, "H": height, "W": width}
    picture = np.zeros([sides[axis] for axis in card.layout], np.float32)
    before = resident_memory()
    session.run(picture)
    return max(LEAST_RUN_BYTES, (resident_memory() - before) / (width * height))
