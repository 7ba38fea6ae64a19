"""Whoever is learnt from: a network file, run by the code that serves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from app.config import PROJECT_ROOT
from app.inference.cpu import usable_cpus
from app.inference.registry import ModelRegistry
from app.inference.stylizer import Stylizer
from app.types import RgbImage
from tools.judge.subjects import find_subject

Draw: TypeAlias = Callable[[RgbImage], RgbImage]
"""(H, W, 3) uint8 to its drawing of the same size."""


def open_teacher(path: Path, threads: int | None = None) -> Draw:
    """The network of ``path``, looked at and run as the service would. threads: all usable processors by default.

    Raises ToolError for what is no file, ModelError for what is no network from a picture to a picture.
    """
    subject = find_subject(str(path), ModelRegistry.load(PROJECT_ROOT / "models"))
    return Stylizer(subject.card, subject.session(threads or usable_cpus())).stylize


def fingerprint(path: Path) -> str:
    """SHA-256 of the file, in hex: answers of one teacher are not mixed with another's."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
