"""Pictures with the tensors that belong to them: what an app's first tests are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from app.imaging.encode import encode
from app.inference.card import ModelCard
from app.inference.stylizer import Stylizer
from app.types import RgbImage, Session, Tensor
from tools.phone.sizes import Size
from tools.phone.trial import fixed_card

DTYPE: Final = "<f4"
"""float32, the least byte first, as phones and PCs have it."""


@dataclass(frozen=True, slots=True)
class Example:
    """A picture and what the network makes of it, as files below the bundle. shape: of both tensors."""

    name: str
    size: Size
    shape: tuple[int, ...]
    picture: Path
    input: Path
    output: Path
    answer: Path


def write_examples(
    card: ModelCard, reference: Session, pictures: Mapping[str, RgbImage], size: Size, folder: Path
) -> list[Example]:
    """For each picture of ``size``: itself, its tensor, the network's answer, and the picture made of that."""
    folder.mkdir()
    return [_write(card, reference, name, rgb, size, folder) for name, rgb in pictures.items()]


def _write(card: ModelCard, reference: Session, name: str, rgb: RgbImage, size: Size, folder: Path) -> Example:
    listener = _Listener(reference)
    answer = Stylizer(fixed_card(card, size), listener).stylize(rgb)
    kinds = {"picture": "png", "input": "bin", "output": "bin", "answer": "png"}
    files = {kind: folder / f"{name}.{kind}.{suffix}" for kind, suffix in kinds.items()}
    files["picture"].write_bytes(encode(rgb, "png"))
    files["input"].write_bytes(listener.asked.astype(DTYPE).tobytes())
    files["output"].write_bytes(listener.answered.astype(DTYPE).tobytes())
    files["answer"].write_bytes(encode(answer, "png"))
    return Example(name, size, listener.asked.shape, **files)


class _Listener(Session):
    """A network that keeps what it was asked and what it answered last."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.asked: Tensor = np.empty(0, np.float32)
        self.answered: Tensor = np.empty(0, np.float32)

    def run(self, tensor: Tensor) -> Tensor:
        self.asked = tensor.copy()
        self.answered = self._session.run(tensor)
        return self.answered
