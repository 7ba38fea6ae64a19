"""How many processors this process may really use, and how many network runs they carry at once.

In a container ONNX Runtime and Python see the host's processors, not the quota (onnxruntime#7207), and threads
above the quota are throttled. So it is read here: affinity, and the CPU quota of every control group above the
process (Linux kernel, Documentation/admin-guide/cgroup-v2.rst, ``cpu.max``; scheduler/sched-bwc.rst for v1).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Final

from app.inference.cgroup import ROOT, groups_v1, groups_v2, read_text

# Version 1 has one tree a controller; distributions mount the CPU's under either name.
_CPU_TREES: Final = ("cpu", "cpu,cpuacct", "cpuacct,cpu")


def usable_cpus(root: Path = ROOT) -> int:
    """Processors this process may use, at least 1: the lesser of its affinity and its quota, rounded up."""
    quota = cpu_quota(root)
    allowed = _affinity()
    return allowed if quota is None else max(1, min(allowed, ceil(quota)))


def best_concurrency(cpus: int) -> int:
    """How many network runs may go on at once where several want to, each with its share of ``cpus`` threads.

    Measured on two processors (docs/performance/session.md): two runs with one thread each answer 12 to 14 % more
    pictures a second than one after the other with two. A run costs memory too: more at once would not fit a small
    board.
    """
    return min(2, cpus)


def cpu_quota(root: Path = ROOT) -> float | None:
    """Processors' worth of time that control groups grant (v1 or v2), or None without a limit.

    Limits nest: the least of the group's own and those above it counts. What cannot be read or makes no sense
    limits nothing.
    """
    return min((quota for quota in _quotas(root) if quota is not None), default=None)


def _affinity() -> int:
    # macOS and Windows have no affinity that Python knows of.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quotas(root: Path) -> Iterator[float | None]:
    yield from (_quota_v2(folder) for folder in groups_v2(root))
    yield from (_quota_v1(folder) for folder in groups_v1("cpu", _CPU_TREES, root))


def _quota_v2(folder: Path) -> float | None:
    quota, _, period = read_text(folder / "cpu.max").partition(" ")
    return _ratio(quota, period or "100000")


def _quota_v1(folder: Path) -> float | None:
    return _ratio(read_text(folder / "cpu.cfs_quota_us"), read_text(folder / "cpu.cfs_period_us"))


def _ratio(quota: str, period: str) -> float | None:
    # "max" and "-1" stand for no limit.
    try:
        numerator, denominator = int(quota), int(period)
    except ValueError:
        return None
    return numerator / denominator if numerator > 0 and denominator > 0 else None
