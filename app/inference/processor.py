"""What kind of processor this is, as far as it decides which precision is quick: a word for cards and tables."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from app.inference.cgroup import ROOT

_MACHINES: Final[Mapping[str, str]] = {"amd64": "x86_64", "arm64": "aarch64"}
"""Names that Windows and macOS have for what Linux calls otherwise."""

_INT8_HELPS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "x86_64": (("amx_int8", "amx"), ("avx512_vnni", "vnni"), ("avx_vnni", "vnni"), ("avx2", "avx2")),
    "aarch64": (("i8mm", "i8mm"), ("asimddp", "dotprod")),
}
"""For each machine, best first: a flag of /proc/cpuinfo and our word for it. These are the instructions for which
ONNX Runtime has 8-bit kernels of its own (onnxruntime/core/mlas)."""


def processor_kind(root: Path = ROOT) -> str:
    """For example ``x86_64-vnni``, ``x86_64-avx2``, ``aarch64-dotprod``, or ``aarch64`` where no flag is known.

    root: where ``proc`` is found. Elsewhere than on Linux the flags are unknown, and the machine alone is named.
    """
    machine = platform.machine().lower()
    machine = _MACHINES.get(machine, machine)
    flags = _flags(root / "proc/cpuinfo")
    best = next((word for flag, word in _INT8_HELPS.get(machine, ()) if flag in flags), None)
    return f"{machine}-{best}" if best else machine


def _flags(cpuinfo: Path) -> frozenset[str]:
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    # "flags" on x86, "Features" on ARM; every processor repeats them.
    found = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return frozenset(found.partition(":")[2].split())
