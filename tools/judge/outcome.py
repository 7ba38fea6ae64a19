"""What a judgement found, as data: for JSON, for a table on the screen, and for a card."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import onnxruntime

from app.inference.processor import processor_kind
from tools.judge.bars import Judged
from tools.judge.comparison import Comparison, Row
from tools.judge.subjects import Subject
from tools.measures.scores import MEASURES, Scores


@dataclass(frozen=True, slots=True)
class Outcome:
    """B judged by A. size: longest side of the pictures in px. threads: of a run. command: that does it again."""

    a: Subject
    b: Subject
    comparison: Comparison
    judged: tuple[Judged, ...]
    size: int
    threads: int
    command: str
    day: date

    @property
    def passed(self) -> bool:
        """All bars met, and no picture on which B alone had no numbers."""
        return all(judged.passed for judged in self.judged) and not self.comparison.broken


def as_data(outcome: Outcome) -> Mapping[str, object]:
    """For JSON: what is infinite, the PSNR of equal pictures, is null there."""
    comparison = outcome.comparison
    return {
        "a": _subject(outcome.a),
        "b": _subject(outcome.b),
        "passed": outcome.passed,
        "bars": [
            {"measure": it.bar.key, "pool": it.bar.pool, "limit": it.bar.limit, "value": _finite(it.value)}
            | {"passed": it.passed}
            for it in outcome.judged
        ],
        "broken": list(comparison.broken),
        "mean": _scores(comparison.mean),
        "worst": _scores(comparison.worst),
        "time_ratio": comparison.time_ratio,
        "size": outcome.size,
        "threads": outcome.threads,
        "processor": processor_kind(),
        "onnxruntime": onnxruntime.__version__,
        "date": outcome.day.isoformat(),
        "command": outcome.command,
        "pictures": [_row(row) for row in comparison.rows],
    }


def _subject(subject: Subject) -> Mapping[str, object]:
    return {
        "name": subject.name,
        "file": subject.path.name,
        "bytes": subject.weights.bytes,
        "sha256": subject.weights.sha256,
    }


def _row(row: Row) -> Mapping[str, object]:
    height, width = row.photo.rgb.shape[:2]
    return {
        "name": row.photo.name,
        "made": row.made,
        "width": width,
        "height": height,
        "a_ms": row.a.seconds * 1000,
        "b_ms": row.b.seconds * 1000,
        "scores": _scores(row.scores),
    }


def _scores(scores: Scores) -> Mapping[str, float | None]:
    return {key: _finite(value) for key, value in scores.items()}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def as_text(outcome: Outcome) -> str:
    """A table of the measures, the bars that are missed, and the verdict."""
    comparison = outcome.comparison
    lines = [f"{outcome.b.name} against {outcome.a.name}: {_set(comparison)}, longest side {outcome.size} px", ""]
    lines += [f"{'':26}{'mean':>10}{'worst':>10}"]
    mean, worst = comparison.mean, comparison.worst
    for key, measure in MEASURES.items():
        title = f"{measure.title} ({measure.unit})" if measure.unit else measure.title
        lines.append(f"{title:26}{measure.shown(mean[key]):>10}{measure.shown(worst[key]):>10}")
    lines += ["", _cost(outcome), ""]
    lines += [f"missed: {judged.bar}, is {judged.value:.4g}" for judged in outcome.judged if not judged.passed]
    lines += [f"no numbers: {name}" for name in comparison.broken]
    return "\n".join([*lines, "PASSED" if outcome.passed else "FAILED"])


def _set(comparison: Comparison) -> str:
    made = sum(row.made for row in comparison.rows)
    return f"{len(comparison.rows) - made} photos (mean) and {made} made pictures"


def _cost(outcome: Outcome) -> str:
    size = outcome.b.weights.bytes / outcome.a.weights.bytes
    threads = "1 thread" if outcome.threads == 1 else f"{outcome.threads} threads"
    return (
        f"file {size:.2f} of the size; time {outcome.comparison.time_ratio:.2f}"
        f" ({processor_kind()}, {threads}, ONNX Runtime {onnxruntime.__version__})"
    )
