"""What was measured as CSV, for machines, and as Markdown, for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import median

from tools.bench.cell import Figures, Measured

PLACE = ("style", "variant", "file", "file_bytes", "sha256", "size", "threads")
FIGURES = ("median_ms", "best_ms", "runs", "load_ms", "rest_mib", "peak_mib")


def as_csv(measured: Sequence[Measured], machine: Mapping[str, str]) -> str:
    """A line for each cell, with the machine in its last columns so that files of many machines can be joined."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*PLACE, *FIGURES, "fault", *machine])
    for item in measured:
        subject = item.cell.subject
        figures = [_number(item.figures, name) for name in FIGURES]
        file = [subject.weights.file, subject.weights.bytes, subject.weights.sha256]
        place = [subject.card.id, subject.variant, *file, item.cell.size, item.cell.threads]
        writer.writerow([*place, *figures, item.fault or "", *machine.values()])
    return text.getvalue()


def _number(figures: Figures | None, name: str) -> str:
    return "" if figures is None else f"{getattr(figures, name):.6g}"


def as_markdown(measured: Sequence[Measured], machine: Mapping[str, str]) -> str:
    """The machine, then two tables for each style: its files, and time and memory by size and threads."""
    lines = ["# Models measured", "", *(f"- {name}: {value}" for name, value in machine.items())]
    for style, items in groupby(measured, lambda item: item.cell.subject.card.id):
        lines += ["", *_style(style, list(items))]
    return "\n".join(lines) + "\n"


def _style(style: str, items: list[Measured]) -> Iterator[str]:
    variants = list(dict.fromkeys(item.cell.subject.variant for item in items))
    yield f"## {style}"
    yield ""
    yield from _table(["Variant", "File, KiB", "Load, ms"], [_file_row(name, items) for name in variants])
    yield ""
    yield f"Milliseconds a picture (median) / peak memory of the process in MiB ({_rest(items)} without a network):"
    yield ""
    rows = [_run_row(place, list(cells), variants) for place, cells in groupby(items, _place)]
    yield from _table(["Size, px", "Threads", *variants], rows)
    yield from (f"\n{item.cell.subject.name} at {_place(item)}: {item.fault}" for item in items if item.fault)


def _file_row(variant: str, items: list[Measured]) -> list[str]:
    mine = [item for item in items if item.cell.subject.variant == variant]
    loads = [item.figures.load_ms for item in mine if item.figures]
    return [variant, f"{mine[0].cell.subject.weights.bytes / 1024:.0f}", f"{median(loads):.0f}" if loads else "-"]


def _rest(items: list[Measured]) -> str:
    rests = [item.figures.rest_mib for item in items if item.figures]
    return f"{median(rests):.0f}" if rests else "unknown"


def _place(item: Measured) -> tuple[int, int]:
    return item.cell.size, item.cell.threads


def _run_row(place: tuple[int, int], items: list[Measured], variants: list[str]) -> list[str]:
    figures = {item.cell.subject.variant: item.figures for item in items}
    return [*map(str, place), *(_times_and_memory(figures.get(name)) for name in variants)]


def _times_and_memory(figures: Figures | None) -> str:
    return "-" if figures is None else f"{figures.median_ms:.0f} / {figures.peak_mib:.0f}"


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
