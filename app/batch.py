"""Files and folders for the command line: what to convert, where the answer goes, and writing it all or nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MARK: Final = "-anime"
"""Goes before the suffix of an answer's name, so that a second run over a folder does not convert its own answers."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file to convert.

    folder: where its answer belongs. named: the user named the file itself, rather than a folder around it.
    """

    source: Path
    folder: Path
    named: bool


def find_jobs(paths: list[Path], out: Path | None, on_error: Callable[[OSError], None] | None = None) -> list[Job]:
    """Every file of ``paths``, folders searched to the bottom in the order of their names, none twice.

    out: the folder for the answers, with the folders below a searched one repeated in it; None: beside each file.
    Hidden files and folders, earlier answers and ``out`` itself are left out of a search. on_error: told of each
    folder that cannot be searched; the search goes on.
    """
    jobs: dict[Path, Job] = {}
    for path in paths:
        for job in _folder_jobs(path, out, on_error) if path.is_dir() else [Job(path, out or path.parent, named=True)]:
            jobs.setdefault(_real(job.source), job)
    return list(jobs.values())


def _folder_jobs(top: Path, out: Path | None, on_error: Callable[[OSError], None] | None) -> Iterator[Job]:
    inside = _real(out) if out else None
    for folder, names, files in os.walk(top, onerror=on_error):
        here = Path(folder)
        names[:] = sorted(name for name in names if not name.startswith(".") and _real(here / name) != inside)
        for name in sorted(files):
            if not name.startswith(".") and not Path(name).stem.endswith(MARK):
                yield Job(here / name, out / here.relative_to(top) if out else here, named=False)


def _real(path: Path) -> Path:
    # Path.resolve() raises RuntimeError for a link that leads to itself, before Python 3.13.
    return Path(os.path.realpath(path))


class Names:
    """Gives each answer a name of its own: ``IMG_1.HEIC`` and ``IMG_1.JPG`` of one folder must not become one file."""

    def __init__(self) -> None:
        self._given: set[Path] = set()

    def target(self, job: Job, suffix: str) -> Path:
        """The file for the answer to ``job``. Equal jobs in equal order get equal names in every run."""
        stem, number, target = job.source.stem, 1, job.folder / f"{job.source.stem}{MARK}{suffix}"
        while target in self._given:
            number += 1
            target = job.folder / f"{stem}-{number}{MARK}{suffix}"
        self._given.add(target)
        return target


def write_whole(target: Path, data: bytes) -> None:
    """Write ``data`` to ``target``, making its folder; a reader, or a crash, sees all of it or nothing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        # mkstemp makes files for their owner alone; an answer gets the rights any new file gets.
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
