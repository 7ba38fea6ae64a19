"""What a process's memory has come to (Linux: proc(5)), and memory that shows where it is read unwritten."""

from __future__ import annotations

import ctypes
import resource
from pathlib import Path
from typing import Final

_STATUS: Final = Path("/proc/self/status")
_CLEAR_REFS: Final = Path("/proc/self/clear_refs")
_M_PERTURB: Final = -6
"""glibc's mallopt(3): fill what is allocated with the complement of this byte."""


def resident_mib() -> float:
    """This process's memory now."""
    return _status("VmRSS")


def peak_mib() -> float:
    """The most memory it has had since ``forget_peak``."""
    return _status("VmHWM")


def forget_peak() -> None:
    """Let ``peak_mib`` begin anew."""
    _CLEAR_REFS.write_text("5")


def limit_growth(mib: int) -> None:
    """Let this process's address space grow by ``mib`` from now on: what asks for more gets a MemoryError."""
    most = int((_status("VmSize") + mib) * 1024 * 1024)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def fill_new_memory(value: int) -> None:
    """From now on memory begins as bytes that depend on ``value``; 0: as it comes, often zeros. glibc only."""
    ctypes.CDLL(None).mallopt(_M_PERTURB, value)


def _status(key: str) -> float:
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:")) / 1024
