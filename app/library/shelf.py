"""The folder of added styles: each goes in, and comes out, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

from app.errors import ModelError
from app.inference.added import ADDED_FOLDER, added_folders
from app.inference.registry import ModelRegistry
from app.types import StyleId

_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_CHUNK: Final = 1 << 20


def style_id(name: str) -> StyleId:
    """An id made of ``name``, e.g. a file's: small letters and digits, the rest as hyphens."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")[:64]


def check_new_id(models_dir: Path, name: StyleId) -> None:
    """Raises ModelError where ``name`` is no id, or a style is called so already."""
    if not _ID.fullmatch(name):
        raise ModelError(f"“{name}” is no id: up to 64 small letters, digits, - and _, the first no sign. Give --id.")
    registry = ModelRegistry.read(models_dir)
    if name in (*registry.styles, *registry.presets) or (models_dir / ADDED_FOLDER / name).exists():
        raise ModelError(f"There is a style called {name} already: choose another --id, or remove it first.")


@contextmanager
def new_style(models_dir: Path, name: StyleId) -> Iterator[Path]:
    """A folder to build the style ``name`` in. It becomes the style when the block ends, and nothing when it raises.

    Raises ModelError where another style of that name came first, OSError where nothing can be written.
    """
    check_new_id(models_dir, name)
    shelf = models_dir / ADDED_FOLDER
    shelf.mkdir(exist_ok=True)
    # The dot keeps the registry from reading it before it is whole.
    folder = shelf / f".new-{name}-{uuid4().hex[:8]}"
    folder.mkdir()
    try:
        yield folder
        _rename(folder, shelf / name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        remove_if_empty(shelf)
        raise


def _rename(folder: Path, target: Path) -> None:
    try:
        folder.rename(target)
    except OSError:
        if target.exists():
            raise ModelError(f"There is a style called {target.name} already: someone else added it.") from None
        raise


def remove_if_empty(folder: Path) -> None:
    """Leave no empty folder behind; one that holds something stays."""
    try:
        folder.rmdir()
    except OSError:
        return


def remove_style(models_dir: Path, name: StyleId) -> None:
    """Take an added style away, broken or not. Raises ModelError where there is none, or others stand on it."""
    registry = ModelRegistry.read(models_dir)
    style = registry.styles.get(name)
    if style is not None and not style.added:
        raise ModelError(f"Style {name} is built in; only added styles can be removed.")
    folder = next((folder for folder in added_folders(models_dir) if folder.name == name), None)
    if folder is None:
        raise ModelError(f"No added style is called {name}.")
    on_it = [other.card.id for other in registry.styles.values() if other.card.surroundings == name]
    if on_it:
        raise ModelError(f"Style {name} is drawn around the faces of {', '.join(on_it)}: remove that first.")
    _take_away(folder)


def _take_away(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
        return
    # Renamed first: whatever happens while its files go, no half of it is a style.
    gone = folder.with_name(f".gone-{folder.name}-{uuid4().hex[:8]}")
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def copy_weights(source: Path, target: Path) -> str:
    """Copy a file and return its SHA-256. The copy has the rights any new file gets, whatever the original's."""
    digest = hashlib.sha256()
    with source.open("rb") as original, target.open("xb") as copy:
        while chunk := original.read(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """SHA-256 of the file at ``path``, as 64 small hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
