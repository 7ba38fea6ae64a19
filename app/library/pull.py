"""Files of the catalogue, fetched and held to their SHA-256: the published one, or the one that came first."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from app.batch import write_whole
from app.errors import ModelError
from app.library.catalogue import Entry, RemoteFile
from app.library.parts import Part
from app.library.shelf import remove_if_empty, sha256_of
from app.library.transfer import PATIENT, Patience, Progress, fetch

PULLED_FOLDER: Final = "pulled"

FIRST_SEEN_FILE: Final = "first-seen.json"
"""By address: the SHA-256 and the size of the file that came from it first, and the day."""

Tell = Callable[[str], None]


def pull_files(
    models_dir: Path,
    entry: Entry,
    progress: Callable[[RemoteFile], Progress],
    *,
    tell: Tell,
    accept_changed: bool = False,
    patience: Patience = PATIENT,
) -> list[Path]:
    """The files of ``entry``, whole and checked, in ``models_dir``/pulled/<id>; those that are there are kept.

    progress: what to call while a file arrives. tell: called with a sentence about each file trusted on first use.
    accept_changed: take a file that differs from the one that came first, where no SHA-256 is published. Raises
    ModelError or OSError; then the files there before are as they were.
    """
    if entry.by_hand is not None:
        raise ModelError(
            f"{entry.by_hand} has no address of its own: save it from {entry.page}, then run "
            f"`python -m app models add {entry.by_hand} --as {entry.id}`."
        )
    folder = models_dir / PULLED_FOLDER / entry.id
    folder.mkdir(parents=True, exist_ok=True)
    seen = FirstSeen(models_dir / PULLED_FOLDER / FIRST_SEEN_FILE)
    try:
        return [
            _pull(file, folder, seen, progress(file), tell, accept_changed=accept_changed, patience=patience)
            for file in entry.files
        ]
    finally:
        remove_if_empty(folder)
        remove_if_empty(folder.parent)


def _pull(
    file: RemoteFile,
    folder: Path,
    seen: FirstSeen,
    progress: Progress,
    tell: Tell,
    *,
    accept_changed: bool,
    patience: Patience,
) -> Path:
    target, part = folder / file.name, Part(folder / f".{file.name}.part")
    expected = file.sha256 or (None if accept_changed else seen.sha256(file.url))
    if target.is_file() and expected is not None and sha256_of(target) == expected:
        return target
    fetch(file.url, part, progress, patience)
    digest = sha256_of(part.path)
    fault = _fault(file, part.size, digest, expected, seen)
    if fault is not None:
        part.discard()
        raise ModelError(fault)
    if file.sha256 is None and digest != seen.sha256(file.url):
        seen.record(file.url, digest, part.size)
        tell(f"No SHA-256 of {file.name} is published. This one is trusted and recorded: {digest}.")
    part.path.replace(target)
    part.discard()
    return target


def _fault(file: RemoteFile, size: int, digest: str, expected: str | None, seen: FirstSeen) -> str | None:
    if size == 0:
        return f"{file.url} answered with an empty file."
    if expected is None or digest == expected:
        return None
    if file.sha256 is None:
        return (
            f"{file.name} is another file than the one that came from there on {seen.day(file.url)} (its SHA-256 is "
            f"now {digest}): if its author tells why, --accept-changed takes it."
        )
    length = f", {size} bytes instead of {file.bytes}" if file.bytes not in (None, size) else ""
    return f"{file.name} is another file than the one expected (its SHA-256 is {digest}{length}): it was thrown away."


class FirstSeen:
    """What came first from each address without a published SHA-256; kept in the file at ``path``."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def sha256(self, url: str) -> str | None:
        """Of the first file from ``url``; None where none came yet."""
        return self._entry(url).get("sha256")

    def day(self, url: str) -> str:
        """When that was, as 2026-11-30."""
        return str(self._entry(url).get("day", "an unknown day"))

    def record(self, url: str, sha256: str, size: int) -> None:
        """Remember a file from ``url``, in place of what was known of it."""
        known = self._read()
        known[url] = {"sha256": sha256, "bytes": size, "day": datetime.now(UTC).date().isoformat()}
        write_whole(self._path, json.dumps(known, indent=2, sort_keys=True).encode())

    def _entry(self, url: str) -> dict[str, Any]:
        entry = self._read().get(url)
        return entry if isinstance(entry, dict) else {}

    def _read(self) -> dict[str, Any]:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            # To forget what was trusted would be to trust anything.
            raise ModelError(f"{self._path} cannot be read: mend it, or remove it to trust anew.") from None
        return content if isinstance(content, dict) else {}
