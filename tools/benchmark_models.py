"""How quick and how hungry each network is here: ``python -m tools.benchmark_models``.

Measures network x size x threads, each in a fresh process: milliseconds a picture, peak memory, time to load, size of
the file. Writes benchmark.csv, benchmark.md and benchmark.svg into a folder and prints the Markdown. The folder of a
Raspberry Pi, or of any other machine, is worth sending in: it names the processor and versions, and nothing of yours.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from app.config import PROJECT_ROOT
from app.inference.cpu import usable_cpus
from app.inference.registry import ModelRegistry
from tools.bench.cell import Cell, Measured, measure
from tools.bench.machine import describe_machine
from tools.bench.plot import as_svg
from tools.bench.tables import as_csv, as_markdown
from tools.command import FAILED, run_command, whole_file, whole_number
from tools.judge.subjects import Subject, find_subject

SIZES: Final = (256, 384, 512, 768)
THREADS: Final = (1, 2, 4)
SECONDS: Final = 1.0


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code: 1 where a network did not run."""
    options = _parser().parse_args(arguments)
    subjects = list(_subjects(options.networks, ModelRegistry.read(options.models)))
    cells = [Cell(*place) for place in _places(subjects, options.sizes, options.threads or _threads())]
    measured: list[Measured] = []
    for number, cell in enumerate(cells, 1):
        measured.append(_measure(cell, number, len(cells), options.seconds))
        # After each: whoever stops it half-way, or is stopped, has what was measured.
        _write(options.out, measured)
    print(as_markdown(measured, describe_machine()))
    print(f"Written to {options.out}.", file=sys.stderr)
    return FAILED if any(item.fault for item in measured) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.benchmark_models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "networks", nargs="*", metavar="NETWORK", help="STYLE (all its variants), STYLE:VARIANT or a model file (all)"
    )
    sizes, threads = (" ".join(map(str, numbers)) for numbers in (SIZES, THREADS))
    parser.add_argument(
        "--sizes", type=whole_number(16), nargs="+", default=SIZES, metavar="PX", help=f"sides (default: {sizes})"
    )
    parser.add_argument(
        "--threads", type=whole_number(1), nargs="+", metavar="N", help=f"default: {threads}, as many as there are"
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="about how long each cell runs (default: %(default)s)"
    )
    parser.add_argument("--models", type=Path, default=PROJECT_ROOT / "models", help="folder with models.toml")
    parser.add_argument(
        "--out", type=Path, default=PROJECT_ROOT / "out" / "benchmark-models", metavar="DIR", help="where the files go"
    )
    return parser


def _threads() -> list[int]:
    """Those of THREADS that have a processor each."""
    return [count for count in THREADS if count <= usable_cpus()]


def _subjects(words: list[str], registry: ModelRegistry) -> Iterator[Subject]:
    for word in words or registry.styles:
        if word in registry.styles:
            yield from (find_subject(f"{word}:{name}", registry) for name in registry.card(word).variants)
        else:
            yield find_subject(word, registry)


def _places(subjects: list[Subject], sizes: list[int], threads: list[int]) -> Iterator[tuple[Subject, int, int]]:
    """Style by style; there the variants innermost, so that those to be compared follow each other in time."""
    for style in dict.fromkeys(subject.card.id for subject in subjects):
        mine = [subject for subject in subjects if subject.card.id == style]
        yield from ((subject, size, count) for size in sizes for count in threads for subject in mine)


def _measure(cell: Cell, number: int, count: int, seconds: float) -> Measured:
    measured = measure(cell, seconds)
    said = measured.fault or (f"{measured.figures.median_ms:.0f} ms" if measured.figures else "")
    print(f"{number}/{count} {cell.subject.name}, {cell.size} px, {cell.threads}: {said}", file=sys.stderr)
    return measured


def _write(folder: Path, measured: list[Measured]) -> None:
    machine = describe_machine()
    for name, content in (
        ("benchmark.csv", as_csv(measured, machine)),
        ("benchmark.md", as_markdown(measured, machine)),
        ("benchmark.svg", as_svg(measured)),
    ):
        with whole_file(folder / name) as part:
            part.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    run_command(main)
