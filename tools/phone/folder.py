"""A folder that is whole or not there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.command import ToolError


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder to fill; it becomes ``path`` if the block ends well, and is gone if not.

    It is made beside ``path``, on the same file system, so that one rename puts it in place. Raises ToolError where
    ``path`` holds something already: nothing is overwritten.
    """
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise ToolError(f"{path} is there already: name a new folder.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".part-") as folder:
        part = Path(folder) / path.name
        part.mkdir()
        yield part
        if path.exists():
            path.rmdir()
        part.rename(path)
