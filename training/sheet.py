"""Photos, the teacher's drawings and the student's, side by side, to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from app.imaging.encode import encode
from app.types import RgbImage
from tools.command import whole_file
from training.judge import Kept

GAP: Final = 4
"""Pixels of white between pictures."""

QUALITY: Final = 90


def write_sheet(path: Path, kept: Sequence[Kept], draw: Callable[[RgbImage], RgbImage], columns: int = 2) -> None:
    """A JPEG with photo, teacher, student for each of ``kept``, ``columns`` of these triples beside each other."""
    triples = [_row([square.photo, square.wanted, draw(square.photo)]) for square in kept]
    blank = np.full_like(triples[0], 255)
    rows = [triples[start : start + columns] for start in range(0, len(triples), columns)]
    lines = [_row([*row, *[blank] * (columns - len(row))]) for row in rows]
    with whole_file(path) as part:
        part.write_bytes(encode(np.concatenate(lines), "jpeg", quality=QUALITY))


def _row(pictures: Sequence[RgbImage]) -> RgbImage:
    framed = [np.pad(picture, ((0, GAP), (0, GAP), (0, 0)), constant_values=255) for picture in pictures]
    return np.concatenate(framed, axis=1)
