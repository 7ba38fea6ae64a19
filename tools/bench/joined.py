"""Times of tools.benchmark_models and verdicts of tools.verify, joined by the SHA-256 of the files they are of."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeAlias

from app.inference.offer import FASTER
from tools.command import ToolError, check_file

_MOST_BYTES: Final = 16 << 20
_MB: Final = 1e6

Place: TypeAlias = tuple[int, int]
"""Side of the picture in px, threads."""


@dataclass(frozen=True, slots=True)
class Times:
    """What was measured of one file. milliseconds: of a picture, median. peak: of the process, MiB.

    Of several measurements of one file at one place, as of benchmarks made again, the least.
    """

    name: str
    bytes: int
    sha256: str
    milliseconds: Mapping[Place, float]
    peak: Mapping[Place, float]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a file lost against another. Means of the photos; PSNR in dB, None where infinite; banding of the worst."""

    sha256: str
    against: str
    passed: bool
    ssim: float
    psnr: float | None
    banding: float


def read_files(paths: Iterable[Path]) -> tuple[list[Times], list[Verdict]]:
    """The contents of ``paths``: benchmark.csv files and the JSON of verdicts. Raises ToolError for anything else."""
    rows: list[Mapping[str, str]] = []
    verdicts = []
    for path in paths:
        check_file(path, most_bytes=_MOST_BYTES)
        try:
            if path.suffix == ".json":
                verdicts.append(_verdict(json.loads(path.read_text(encoding="utf-8"))))
            else:
                rows += _rows(path)
        except (ValueError, KeyError, TypeError) as error:
            what = "neither a table of tools.benchmark_models nor a verdict of tools.verify --json"
            raise ToolError(f"{path} is {what}.") from error
    return list(_times(rows)), verdicts


def _verdict(data: Any) -> Verdict:
    mean, worst = data["mean"], data["worst"]
    return Verdict(
        data["b"]["sha256"], data["a"]["sha256"], data["passed"], mean["ssim"], mean["psnr"], worst["banding"]
    )


def _rows(path: Path) -> list[Mapping[str, str]]:
    rows: list[Mapping[str, str]] = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    for row in rows:
        _place(row)
        float(row["median_ms"] or 0)
        float(row["peak_mib"] or 0)
        int(row["file_bytes"])
        _name(row)
    if not rows:
        raise ValueError("no rows")
    return rows


def _place(row: Mapping[str, str]) -> Place:
    return int(row["size"]), int(row["threads"])


def _name(row: Mapping[str, str]) -> str:
    return Path(row["file"]).stem if row["variant"] == "file" else f"{row['style']} {row['variant']}"


def _times(rows: Sequence[Mapping[str, str]]) -> Iterator[Times]:
    for sha256 in dict.fromkeys(row["sha256"] for row in rows):
        mine = [row for row in rows if row["sha256"] == sha256 and row["median_ms"]]
        first = next(row for row in rows if row["sha256"] == sha256)
        yield Times(
            _name(first),
            int(first["file_bytes"]),
            sha256,
            _best((_place(row), float(row["median_ms"])) for row in mine),
            _best((_place(row), float(row["peak_mib"])) for row in mine),
        )


def _best(figures: Iterable[tuple[Place, float]]) -> Mapping[Place, float]:
    """The least of each place: what a busy machine adds is no property of the network."""
    best: dict[Place, float] = {}
    for place, figure in figures:
        best[place] = min(figure, best.get(place, figure))
    return best


def joined_table(times: Sequence[Times], verdicts: Sequence[Verdict]) -> list[str]:
    """Lines of Markdown: a row for each file that was timed, those judged by another one behind it."""
    sizes = sorted({size for item in times for size, _ in item.milliseconds})
    threads = sorted({count for item in times for _, count in item.milliseconds})
    if not sizes:
        raise ToolError("No network was timed: give the benchmark.csv of tools.benchmark_models too.")
    places = [[(size, count) for count in threads] for size in sizes]
    judged = {verdict.sha256: verdict for verdict in verdicts}
    known = {item.sha256: item for item in times}
    rows = []
    for item in _ordered(times, judged):
        verdict = judged.get(item.sha256)
        reference = known.get(verdict.against) if verdict else None
        rows.append([*_cost(item, places), *_against(item, verdict, reference)])
    return [*_head(sizes, threads), *(f"| {' | '.join(row)} |" for row in rows)]


def _head(sizes: Sequence[int], threads: Sequence[int]) -> list[str]:
    columns = ["Network", "MB", *(f"{size} px" for size in sizes), f"peak at {sizes[-1]} px"]
    columns += ["time / FP32", "SSIM", "PSNR, dB", "banding", ""]
    legend = f"Milliseconds with {' / '.join(map(str, threads))} threads; peak memory of the process in MiB."
    return [legend, "", f"| {' | '.join(columns)} |", f"|---|{'---:|' * (len(columns) - 2)}---|"]


def _cost(item: Times, places: Sequence[Sequence[Place]]) -> list[str]:
    peaks = [item.peak[place] for place in places[-1] if place in item.peak]
    peak = f"{max(peaks):.0f}" if peaks else "-"
    return [item.name, f"{item.bytes / _MB:.2f}", *(_milliseconds(item, group) for group in places), peak]


def _ordered(times: Sequence[Times], judged: Mapping[str, Verdict]) -> Iterator[Times]:
    known = {item.sha256 for item in times}
    for first in times:
        if first.sha256 in judged and judged[first.sha256].against in known:
            continue
        yield first
        yield from (item for item in times if item.sha256 in judged and judged[item.sha256].against == first.sha256)


def _milliseconds(item: Times, places: Sequence[Place]) -> str:
    return " / ".join(f"{item.milliseconds[place]:.0f}" if place in item.milliseconds else "-" for place in places)


def _against(item: Times, verdict: Verdict | None, reference: Times | None) -> list[str]:
    if verdict is None:
        return ["1", "", "", "", ""]
    ratio = time_ratio(item, reference) if reference else None
    remarks = []
    if ratio is not None and ratio > FASTER:
        remarks.append("no faster")
    if not verdict.passed:
        remarks.append("misses its bars")
    return [
        "-" if ratio is None else f"{ratio:.2f}",
        f"{verdict.ssim:.4f}",
        "∞" if verdict.psnr is None else f"{verdict.psnr:.1f}",
        f"{verdict.banding:.2f}",
        ", ".join(remarks),
    ]


def time_ratio(item: Times, reference: Times) -> float | None:
    """How long ``item`` takes for what takes ``reference`` one: the median of what was measured of both."""
    both = item.milliseconds.keys() & reference.milliseconds.keys()
    return median(item.milliseconds[place] / reference.milliseconds[place] for place in both) if both else None
