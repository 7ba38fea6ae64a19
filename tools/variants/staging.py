"""A copy of the models' folder to work in, whose changes appear together."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from app.inference.registry import MODELS_FILE

# Owners' styles and downloads: large, and none of this command's business.
_LEFT_OUT: Final = ("added", "pulled", ".part-*")


@contextmanager
def staged(models: Path) -> Iterator[Path]:
    """A copy of ``models``; what differs in it at a good end takes the original's place, models.toml last.

    So whoever reads meanwhile finds at worst new files with an old list, which says so.
    """
    # Beside the originals: replacing a file is atomic within one file system.
    with TemporaryDirectory(dir=models, prefix=".part-") as folder:
        copy = Path(folder) / "models"
        shutil.copytree(models, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        before = [path.name for path in copy.iterdir() if path.is_file()]
        yield copy
        changed = [path for path in copy.iterdir() if path.is_file() and _differs(path, models / path.name)]
        for path in sorted(changed, key=lambda path: path.name == MODELS_FILE):
            path.replace(models / path.name)
        for name in before:
            # Those replaced have just left the copy.
            if name not in {path.name for path in changed} and not (copy / name).exists():
                (models / name).unlink(missing_ok=True)


def _differs(path: Path, original: Path) -> bool:
    return not original.is_file() or path.read_bytes() != original.read_bytes()
