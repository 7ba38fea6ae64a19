"""What has arrived of a file so far, and of which file: kept on disk so that a later try can go on with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app.errors import ModelError


@dataclass(frozen=True, slots=True)
class Part:
    """The beginning of a file at ``path``, with a note beside it: its address and version."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes that have arrived."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def version(self, url: str) -> str | None:
        """Which version of ``url`` this is the beginning of; None where it is of another address, or none is known."""
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        version = note.get("version") if isinstance(note, dict) and note.get("url") == url else None
        return version if isinstance(version, str) and version else None

    def take_note(self, url: str, version: str | None) -> None:
        """Say what will be written. Raises ModelError where that cannot be."""
        with _told(self._note):
            self._note.write_text(json.dumps({"url": url, "version": version}), encoding="utf-8")

    @contextmanager
    def open(self, *, go_on: bool) -> Iterator[IO[bytes]]:
        """To write to: at its end, or, not to ``go_on``, from its beginning. Raises ModelError where that cannot be."""
        with _told(self.path):
            # Unbuffered: what a full disk does not take is told at once, and not when the file is closed.
            file = self.path.open("ab" if go_on else "wb", buffering=0)
        with file:
            yield file

    def append(self, file: IO[bytes], data: bytes) -> None:
        """Write all of ``data``. Raises ModelError where the disk does not take it."""
        left = memoryview(data)
        with _told(self.path):
            while left:
                left = left[file.write(left) :]

    def discard(self) -> None:
        """Throw it away, with its note."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self.path.with_name(f"{self.path.name}.json")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror or error}.") from None
