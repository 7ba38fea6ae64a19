"""What a bundle is made of: models that an app may choose from, and parts that could not be made."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from app.types import Session
from tools.phone.sizes import Size

Engine: TypeAlias = Literal["onnxruntime", "ncnn", "openvino"]
Format: TypeAlias = Literal["onnx", "ort", "ncnn", "openvino"]


class LeftOut(Exception):
    """A part of the bundle that is not made; the rest is. ``str(error)`` is a sentence."""


@dataclass(frozen=True, slots=True)
class PhoneModel:
    """One file, or pair of files, that runs the network.

    precision: ``fp32``, ``fp16`` or ``int8``; ``as given`` for a file whose precision nobody stated. size: the only
    one it takes; None for any that the network takes. files: the one an engine opens first. open: a session with so
    many threads, taking and giving tensors as the network's card says.
    """

    engine: Engine
    format: Format
    precision: str
    size: Size | None
    files: tuple[Path, ...]
    open: Callable[[int], Session]

    @property
    def bytes(self) -> int:
        """Of all its files."""
        return sum(path.stat().st_size for path in self.files)

    def takes(self, size: Size) -> bool:
        """Whether it runs pictures of ``size``."""
        return self.size is None or self.size == size


def optional_module(name: str) -> Any:
    """The module of an optional package. Raises LeftOut where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise LeftOut(f"{name} is not installed here (pip install -r requirements-tools.txt).") from error
