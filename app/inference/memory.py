"""How much memory this process may have, and how much it has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from app.inference.cgroup import ROOT, groups_v1, groups_v2, read_text

SHARE: Final = 0.75
"""Of the machine's memory, where no control group sets a limit: the rest is the system's and other programs'."""

# Version 1 says "no limit" with a number of pages that no machine has.
_NO_LIMIT: Final = 1 << 60
_KIB: Final = 1024


def usable_memory(root: Path = ROOT) -> int | None:
    """Bytes that this process may take: what its control groups grant, else SHARE of the machine's memory.

    None where neither is known.
    """
    machine, limit = _machine_memory(root), memory_limit(root)
    if limit is not None and (machine is None or limit < machine):
        return limit
    return None if machine is None else int(SHARE * machine)


def memory_limit(root: Path = ROOT) -> int | None:
    """Bytes that the control groups grant (v1 or v2), or None without a limit."""
    return min((limit for limit in map(_number, _limits(root)) if limit is not None), default=None)


def _limits(root: Path) -> Iterator[str]:
    yield from (read_text(folder / "memory.max") for folder in groups_v2(root))
    yield from (read_text(folder / "memory.limit_in_bytes") for folder in groups_v1("memory", ["memory"], root))


def _number(text: str) -> int | None:
    # "max" stands for no limit, too.
    return int(text) if text.isdigit() and int(text) < _NO_LIMIT else None


def _machine_memory(root: Path) -> int | None:
    lines = (line.split() for line in read_text(root / "proc/meminfo").splitlines())
    total = next((words[1] for words in lines if words[:1] == ["MemTotal:"] and len(words) > 1), "")
    if total.isdigit():
        return int(total) * _KIB
    # macOS has no /proc; Windows has neither.
    names = getattr(os, "sysconf_names", {})
    if root != ROOT or "SC_PHYS_PAGES" not in names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def resident_memory(root: Path = ROOT) -> int:
    """Bytes of memory that this process has now; 0 where the system does not tell."""
    words = read_text(root / "proc/self/statm").split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") if len(words) > 1 else 0
