"""Which photos calibrate and which judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from app.inference.card import ModelCard
from app.types import Tensor
from tools.pictures import load_photos
from tools.shrink.panel import feeds


@dataclass(frozen=True, slots=True)
class Split:
    """judging and calibrating have no photo in common, unless there are too few (``shared``)."""

    judging: tuple[Path, ...]
    calibrating: tuple[Path, ...]
    shared: bool


def split(paths: Sequence[Path], judging: int) -> Split:
    """Take ``judging`` of ``paths``, at even distances, and leave the others for calibration.

    Where that would leave fewer than it takes, all do both.
    """
    if len(paths) < 2 * judging:
        return Split(tuple(paths), tuple(paths), True)
    chosen = {index * len(paths) // judging for index in range(judging)}
    return Split(
        tuple(path for index, path in enumerate(paths) if index in chosen),
        tuple(path for index, path in enumerate(paths) if index not in chosen),
        False,
    )


class PhotoTensors(Sequence[Tensor]):
    """What the service feeds a network for each photo of ``paths`` at ``longest`` px; read when it is asked for."""

    def __init__(self, card: ModelCard, paths: Sequence[Path], longest: int) -> None:
        self._card = card
        self._paths = paths
        self._longest = longest

    def __len__(self) -> int:
        return len(self._paths)

    @overload
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Tensor]: ...
    def __getitem__(self, index: int | slice) -> Tensor | Sequence[Tensor]:
        if isinstance(index, slice):
            return PhotoTensors(self._card, self._paths[index], self._longest)
        (photo,) = load_photos([self._paths[index]], self._longest)
        return feeds(self._card, [photo.rgb])[0]
