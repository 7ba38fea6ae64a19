"""Whether batches pay on this machine: ``python -m tools.benchmark_batches``.

Measures network x size x way of dividing the processors x pictures in a batch, with the code that serves: clients that
ask for a picture as soon as they have the last, and one client alone. Prints Markdown tables of pictures a second, the
95th percentile of a client's wait and a lone client's wait, in milliseconds. docs/performance/batches.md keeps some.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from app.config import PROJECT_ROOT
from app.inference.cpu import usable_cpus
from app.inference.registry import ModelRegistry
from app.inference.session import OrtSession
from app.types import Session, Tensor
from tools.bench.batches import Figures, Way, gives_the_same, measure, table, ways
from tools.bench.machine import describe_machine
from tools.command import run_command, whole_number
from tools.judge.subjects import Subject, find_subject

SIZES: Final = (256, 512, 768)
BATCHES: Final = (1, 2, 4, 8)
CLIENTS: Final = 8
SECONDS: Final = 1.5
ROUNDS: Final = 2


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    options = _parser().parse_args(arguments)
    registry = ModelRegistry.read(options.models)
    subjects = [find_subject(word, registry) for word in options.networks or registry.styles]
    for name, value in describe_machine().items():
        print(f"- {name}: {value}")
    for subject in subjects:
        for size in options.sizes:
            print("\n".join(["", *_section(subject, size, options)]), flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.benchmark_batches",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="STYLE, STYLE:VARIANT or a model file")
    parser.add_argument("--sizes", type=whole_number(16), nargs="+", default=SIZES, metavar="PX", help="sides")
    parser.add_argument("--batches", type=whole_number(1), nargs="+", default=BATCHES, metavar="N", help="pictures")
    parser.add_argument("--clients", type=whole_number(1), default=CLIENTS, help="default: %(default)s")
    parser.add_argument("--rounds", type=whole_number(1), default=ROUNDS, help="the best of so many counts")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each cell and round (default: %(default)s)")
    parser.add_argument("--models", type=Path, default=PROJECT_ROOT / "models", help="folder with models.toml")
    return parser


def _section(subject: Subject, size: int, options: argparse.Namespace) -> Iterator[str]:
    @cache
    def session(threads: int) -> OrtSession:
        return OrtSession(subject.path, subject.card, threads=threads)

    tensor = _picture(subject, size)
    height, width = (tensor.shape[subject.card.layout.index(axis)] for axis in "HW")
    yield f"## {subject.name}, {width} x {height} px"
    yield ""
    batches = options.batches if session(1).takes_batches else [1]
    if not session(1).takes_batches:
        yield "Its file takes one picture a run."
    elif not all(gives_the_same(session(1), tensor, size) for size in batches if size > 1):
        yield "Its batches give other pixels than single runs: the service runs it singly."
    yield ""
    yield from table(list(_rows(session, tensor, batches, options)))


def _picture(subject: Subject, size: int) -> Tensor:
    width, height = subject.card.sizes.padded(size, size)
    sides = {"N": 1, "C": 3, "H": height, "W": width}
    shape = [sides[axis] for axis in subject.card.layout]
    return np.random.default_rng(size).uniform(*subject.card.input_range, shape).astype(np.float32)


def _rows(
    session: Callable[[int], Session], tensor: Tensor, batches: Sequence[int], options: argparse.Namespace
) -> Iterator[tuple[Way, dict[int, Figures]]]:
    """Round by round through all cells, so that a machine whose speed drifts slows all of them."""
    cells = [(way, size) for way in ways(usable_cpus()) for size in batches]
    rounds = [[_measured(session, tensor, cell, options) for cell in cells] for _ in range(options.rounds)]
    best = dict(zip(cells, map(_best, zip(*rounds, strict=True)), strict=True))
    for way in dict.fromkeys(way for way, _ in cells):
        yield way, {size: best[way, size] for size in batches}


def _measured(
    session: Callable[[int], Session], tensor: Tensor, cell: tuple[Way, int], options: argparse.Namespace
) -> Figures:
    way, together = cell
    print(f"{tensor.shape}, {way.name}, batch {together}", file=sys.stderr)
    return measure(session, tensor, way, together, clients=options.clients, seconds=options.seconds)


def _best(figures: Sequence[Figures]) -> Figures:
    """Of several rounds: other work on the machine only ever makes them worse."""
    rates, p95s, lones = zip(*map(astuple, figures), strict=True)
    return Figures(max(rates), min(p95s), min(lones))


if __name__ == "__main__":
    run_command(main)
