"""What was made and under which circumstances, as tables and as JSON."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import onnx
import onnxruntime

from app.inference.processor import processor_kind
from tools.shrink.int8 import Int8Options
from tools.shrink.results import Outcome, Result
from tools.shrink.search import Point

HEAD: Final = (
    "| file | bytes | size / FP32 | SSIM | PSNR, dB | banding | time / FP32 | |",
    "|---|---|---|---|---|---|---|---|",
)
CURVE_HEAD: Final = ("| nodes in FP32 | SSIM | banding | ms | time / FP32 | bars missed |", "|---|---|---|---|---|---|")

USUALLY: Final = 100
"""Photos that calibration should have at the least."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """All that the figures depend on, but for the machine. network: SHA-256. shared: the same photos do both.

    judging, calibrating: names of files. size, calibration_size: their longest sides in px. threads: of a run.
    int8: the ways that were tried. bars: each in full, as what a name stands for may change.
    """

    network: str
    judging: tuple[str, ...]
    calibrating: tuple[str, ...]
    shared: bool
    size: int
    calibration_size: int
    threads: int
    int8: tuple[Int8Options, ...]
    bars: tuple[str, ...]

    def __str__(self) -> str:
        few = f" (few: {USUALLY} to {2 * USUALLY} are usual)" if len(self.calibrating) < USUALLY else ""
        same = ", and the same calibrate" if self.shared else f"; {len(self.calibrating)} others calibrate"
        return f"{len(self.judging)} photos judge at {self.size} px{same}{few}"


def digest(circumstances: Circumstances) -> str:
    """A short name for ``circumstances`` with these versions of the tools."""
    content = {**asdict(circumstances), **_versions()}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def _versions() -> Mapping[str, str]:
    return {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__}


def as_text(reference: Path, outcome: Outcome, curve: Mapping[int, Point]) -> list[str]:
    """Lines of Markdown: the files, the reference first; what was refused; the trade curve of the search."""
    size = reference.stat().st_size
    lines = [*HEAD, f"| {reference.name} | {size} | 1.00 | 1 | | 0 | 1.00 | the reference |"]
    lines += [_result_line(result, size) for result in outcome.results]
    if outcome.refused:
        lines += ["", *(f"- {name} is not made: {why}." for name, why in outcome.refused.items())]
    if curve:
        lines += ["", *CURVE_HEAD, *(_curve_line(curve[count]) for count in sorted(curve))]
    return lines


def _result_line(result: Result, reference: int) -> str:
    size, mean = result.path.stat().st_size, result.verdict.mean
    cells = [
        result.path.name,
        str(size),
        f"{size / reference:.2f}",
        f"{mean['ssim']:.4f}",
        f"{mean['psnr']:.1f}" if math.isfinite(mean["psnr"]) else "∞",
        f"{result.verdict.worst['banding']:.2f}",
        f"{result.time:.2f}",
        result.remark,
    ]
    return f"| {' | '.join(cells)} |"


def _curve_line(point: Point) -> str:
    cells = [str(point.fp32), f"{point.ssim:.4f}", f"{point.banding:.2f}", f"{point.milliseconds:.0f}"]
    return f"| {' | '.join([*cells, f'{point.time:.2f}', point.missed or 'none'])} |"


def as_json(circumstances: Circumstances, reference: Path, outcome: Outcome, curve: Mapping[int, Point]) -> str:
    """The same as JSON; what is infinite is null there."""
    content = {
        "network": {"file": reference.name, **_file(reference)},
        "circumstances": {**asdict(circumstances), **_versions(), "processor": processor_kind()},
        "files": [_result(result, reference) for result in outcome.results],
        "refused": outcome.refused,
        "curve": [asdict(curve[count]) for count in sorted(curve)],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _result(result: Result, reference: Path) -> Mapping[str, Any]:
    return {
        "kind": result.kind,
        "file": result.path.name,
        **_file(result.path),
        "size_ratio": result.path.stat().st_size / reference.stat().st_size,
        "time_ratio": result.time,
        "mean": _finite(result.verdict.mean),
        "worst": _finite(result.verdict.worst),
        "note": result.remark,
    }


def _file(path: Path) -> Mapping[str, Any]:
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _finite(scores: Mapping[str, float]) -> Mapping[str, float | None]:
    return {key: value if math.isfinite(value) else None for key, value in scores.items()}
