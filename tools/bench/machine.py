"""The machine at hand, as far as figures need it beside them: nothing that tells whose it is or where."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path

import onnxruntime

from app.inference.cgroup import ROOT
from app.inference.cpu import usable_cpus
from app.inference.processor import processor_kind


def describe_machine(root: Path = ROOT) -> Mapping[str, str]:
    """What it is -> in words. root: where ``proc`` and ``sys`` are found."""
    board = _first_line(root / "proc/device-tree/model")
    return {
        "machine": board or platform.machine(),
        "processor": _field(root / "proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "kind": processor_kind(root),
        "processors": str(usable_cpus(root)),
        "memory": _memory(root),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "onnxruntime": onnxruntime.__version__,
    }


def _memory(root: Path) -> str:
    total = _field(root / "proc/meminfo", "MemTotal").removesuffix("kB").strip()
    return f"{int(total) / (1 << 20):.1f} GiB" if total.isdigit() else "unknown"


def _field(path: Path, name: str) -> str:
    """The value of the first line ``name: value``, or nothing."""
    lines = (line.partition(":") for line in _text(path).splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "")


def _first_line(path: Path) -> str:
    # The device tree ends its texts with a zero byte.
    return _text(path).replace("\0", "").strip()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
