"""Which photos are learnt from and which are kept to judge by."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.errors import RequestError
from app.imaging.decode import DecodeLimits, decode
from app.types import RgbImage
from tools.command import ToolError

HELD_OUT_ONE_IN: Final = 16
"""One photo in so many is never learnt from."""


@dataclass(frozen=True, slots=True)
class Split:
    """Files to learn from and files to judge by, each in an order that depends on their content alone."""

    learnt: tuple[Path, ...]
    held_out: tuple[Path, ...]


class UnreadablePhoto(Exception):
    """A file that is no picture; ``str(error)`` names it and says why."""


def split(paths: Sequence[Path]) -> Split:
    """Divide ``paths`` by the SHA-256 of their content.

    The same photo falls on the same side whatever its name and whatever else is there, and counts once where it is
    there twice. Raises ToolError where nothing is left to learn from or to judge by.
    """
    by_digest = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in paths}
    learnt = tuple(by_digest[digest] for digest in sorted(by_digest) if not _is_held_out(digest))
    held_out = tuple(by_digest[digest] for digest in sorted(by_digest) if _is_held_out(digest))
    # A handful of photos may all fall on one side; then the first of the order changes over.
    if not held_out and len(learnt) > 1:
        learnt, held_out = learnt[1:], learnt[:1]
    if not learnt or not held_out:
        raise ToolError(f"{len(by_digest)} different photos are too few: some are learnt from, others judge.")
    return Split(learnt, held_out)


def _is_held_out(digest: str) -> bool:
    return int(digest[:8], 16) % HELD_OUT_ONE_IN == 0


def load_photo(path: Path) -> RgbImage:
    """The photo as the service would see it, (H, W, 3) uint8, upright. Raises UnreadablePhoto."""
    try:
        return decode(path.read_bytes(), DecodeLimits()).rgb
    except RequestError as error:
        raise UnreadablePhoto(f"{path.parent.name}/{path.name}: {error}") from error
