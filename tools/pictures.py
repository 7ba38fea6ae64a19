"""Photos for measuring and calibrating: from folders of the user's, or the samples that come with the project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.config import PROJECT_ROOT
from app.errors import RequestError
from app.imaging.decode import DecodeLimits, decode
from app.imaging.sizing import plan_size, resize
from app.types import RgbImage
from tools.command import ToolError

DEFAULT_FOLDERS: Final = (PROJECT_ROOT / "static" / "samples", PROJECT_ROOT.parent / "shared" / "photos")
"""The second is for people who keep a set of photos beside the project; nothing needs it."""

SUFFIXES: Final = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".heif"})

LEAST_SIDE: Final = 64
"""Pixels: below this a picture tells nothing of a network."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo as the service would see it: upright, sRGB. name: of its file, unique in its set."""

    name: str
    rgb: RgbImage


def find_photos(folders: tuple[Path, ...] = DEFAULT_FOLDERS, *, limit: int | None = None) -> list[Path]:
    """Picture files of ``folders``, searched to the bottom, in the order of their names; at most ``limit``.

    A limit takes about as many from each folder, at even distances, and the same ones each time. Default folders may be
    missing; those that a person names may not. Raises ToolError for them and where no picture is found.
    """
    for folder in folders:
        if folder not in DEFAULT_FOLDERS and not folder.is_dir():
            raise ToolError(f"{folder} is not a folder of photos.")
    groups = [sorted(path for path in folder.rglob("*") if _is_photo(path, folder)) for folder in folders]
    if not any(groups):
        raise ToolError(f"No picture found in {' or '.join(map(str, folders))}.")
    counts = _shares([len(group) for group in groups], limit)
    return [path for group, count in zip(groups, counts, strict=True) for path in _spread(group, count)]


def _is_photo(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not hidden and path.suffix.lower() in SUFFIXES and path.is_file()


def _shares(sizes: list[int], limit: int | None) -> list[int]:
    """How many of each folder: as even as can be, where a small folder leaves its rest to the larger ones."""
    left = sum(sizes) if limit is None else min(limit, sum(sizes))
    shares = [0] * len(sizes)
    # Smallest folder first: what it cannot fill is there for those after it.
    for waiting, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[index] = min(sizes[index], left // (len(sizes) - waiting))
        left -= shares[index]
    return shares


def _spread(paths: list[Path], count: int) -> list[Path]:
    return [paths[index * len(paths) // count] for index in range(count)]


def load_photos(paths: list[Path], longest: int) -> Iterator[Photo]:
    """Each photo with its longest side planned to ``longest`` px, never enlarged, by the code that serves.

    Raises ToolError for a file that is no picture, and for one of less than LEAST_SIDE px.
    """
    for path in paths:
        yield Photo(_name(path), _load(path, longest))


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _load(path: Path, longest: int) -> RgbImage:
    try:
        rgb = decode(path.read_bytes(), DecodeLimits()).rgb
    except RequestError as error:
        raise ToolError(f"{path}: {error}") from error
    height, width = rgb.shape[:2]
    width, height = plan_size(width, height, longest)
    if min(width, height) < LEAST_SIDE:
        raise ToolError(f"{path} is {width} x {height} px here, and sides of at least {LEAST_SIDE} px are needed.")
    return resize(rgb, width, height)
