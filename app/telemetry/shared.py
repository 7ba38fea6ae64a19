"""Where the processes of one service keep their counts, so that any of them can tell those of all.

A folder of small files that are mapped into memory: ``prometheus_client``'s (it finds the folder by the variable
below, when it is first imported), and the last hour's. gunicorn.conf.py offers it before any worker starts; without
an offer a process counts for itself.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import logging
import os
import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.telemetry.minutes import SUFFIX, Minute, merged, read_slots, write_slots

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"

_PREFIX: Final = "animebooth-counts-"
_READERS: Final = "readers.lock"
_KINDS: Final = ("counter", "histogram")
_DEAD: Final = "dead"

_log = logging.getLogger(__name__)


def offer_folder(parent: str | None) -> Path:
    """Make the folder below ``parent`` (default: the system's for temporary files) for this process and its children.

    It goes when this process ends. Called again in the same process, it is the same folder.
    """
    return _folder_of(os.getpid(), parent)


@cache
def _folder_of(pid: int, parent: str | None) -> Path:
    _clear_abandoned(Path(parent or tempfile.gettempdir()))
    new = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=parent))
    # Held until the process and its children are gone, however they end; before the folder has the name that others
    # look for. systemd-tmpfiles leaves a locked folder alone, too.
    fcntl.flock(os.open(new, os.O_RDONLY), fcntl.LOCK_EX)
    folder = new.rename(new.with_name(new.name.removeprefix(".")))
    os.environ[VARIABLE] = str(folder)
    atexit.register(_remove, folder, pid)
    return folder


def _remove(folder: Path, pid: int) -> None:
    # Children inherit what is to be done at the end; it is not theirs to do.
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)


def _clear_abandoned(parent: Path) -> None:
    """Remove the folders of services that were killed before they could do so."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), _opened(folder) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class Shared:
    """The folder ``folder``, as its processes see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def offered(cls) -> Shared | None:
        """The one that was offered to this process, if any."""
        folder = os.environ.get(VARIABLE)
        return cls(Path(folder)) if folder else None

    def metrics(self) -> list[Metric]:
        """What all processes have counted, and what the living ones hold, together."""
        from prometheus_client.multiprocess import MultiProcessCollector

        with self._locked(fcntl.LOCK_SH):
            # One that a process has only just made has nothing in it, not even its length.
            files = [str(path) for path in self.folder.glob("*.db") if path.stat().st_size]
            return list(MultiProcessCollector.merge(files, accumulate=True))

    def minutes(self) -> Mapping[int, Minute]:
        """The last hour of all processes, as History.minutes."""
        with self._locked(fcntl.LOCK_SH):
            return merged(read_slots(path.read_bytes()) for path in self.folder.glob(f"*{SUFFIX}"))

    def processes(self) -> list[int]:
        """Ids of the processes that count here now."""
        names = {path.stem.rpartition("_")[2] for path in self.folder.glob("*.db")}
        return sorted(int(name) for name in names if name.isdecimal())

    def bury(self, pid: int) -> None:
        """The process ``pid`` is dead: keep what it has counted, in one place for all the dead; forget what it held.

        Raises nothing: who does this has more to look after.
        """
        try:
            with self._locked(fcntl.LOCK_EX):
                self._bury(pid)
        except OSError as error:
            _log.warning("The counts of a process that has ended are lost: %s.", type(error).__name__)

    def _bury(self, pid: int) -> None:
        # Imported late: gunicorn's master, which does this, stays small until a worker has died.
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(pid, str(self.folder))
        for kind in _KINDS:
            self._lay_down(self.folder / f"{kind}_{pid}.db", self.folder / f"{kind}_{_DEAD}.db")
        self._lay_down_minutes(self.folder / f"{pid}{SUFFIX}", self.folder / f"{_DEAD}{SUFFIX}")

    def _lay_down(self, own: Path, grave: Path) -> None:
        if not own.exists():
            return
        try:
            _add_counts(own, grave)
        except (OSError, ValueError, LookupError, RuntimeError, struct.error) as error:
            # A file that cannot be read would spoil every later answer.
            _log.warning("The counts of a process that has ended are lost: %s.", type(error).__name__)
        own.unlink()

    def _lay_down_minutes(self, own: Path, grave: Path) -> None:
        if own.exists():
            parts = [read_slots(path.read_bytes()) for path in (own, grave) if path.exists()]
            write_slots(grave, merged(parts))
            own.unlink()

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        with (self.folder / _READERS).open("ab") as file:
            fcntl.flock(file, how)
            yield


def _add_counts(own: Path, grave: Path) -> None:
    from prometheus_client.mmap_dict import MmapedDict, mmap_key
    from prometheus_client.multiprocess import MultiProcessCollector

    files = [str(path) for path in (grave, own) if path.exists()]
    together = MultiProcessCollector.merge(files, accumulate=False)
    new = grave.with_suffix(".new")
    new.unlink(missing_ok=True)
    kept = MmapedDict(str(new))
    for metric in together:
        for sample in metric.samples:
            names, values = list(sample.labels), list(sample.labels.values())
            key = mmap_key(metric.name, sample.name, names, values, metric.documentation)
            kept.write_value(key, sample.value, 0.0)
    kept.close()
    new.replace(grave)
