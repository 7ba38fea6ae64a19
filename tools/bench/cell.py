"""One cell of the table: a network at one size with so many threads, in a process of its own."""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from app.inference.card import ModelCard
from app.inference.session import OrtSession
from app.inference.stylizer import Stylizer
from app.types import RgbImage
from tools.judge.subjects import Subject
from tools.measures.made import made_pictures

LEAST_RUNS: Final = 5
MOST_RUNS: Final = 50
WARM_UPS: Final = 2

_MIB: Final = 1 << 20
_KIB: Final = 1 << 10


@dataclass(frozen=True, slots=True)
class Cell:
    """What is measured. size: of a square picture, in px. threads: of one run."""

    subject: Subject
    size: int
    threads: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured, milliseconds and MiB.

    load_ms: to build the session. median_ms, best_ms: of ``runs`` pictures, with all that goes on around the network.
    rest_mib: of the process before the session, Python and its libraries; peak_mib: the most it ever had.
    """

    load_ms: float
    median_ms: float
    best_ms: float
    runs: int
    rest_mib: float
    peak_mib: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell and its figures, or why there are none."""

    cell: Cell
    figures: Figures | None
    fault: str | None = None


Work: TypeAlias = Callable[[Path, ModelCard, RgbImage, int, float], Figures]
"""As :func:`run_cell`."""


def measure(cell: Cell, seconds: float, work: Work | None = None) -> Measured:
    """Measure ``cell`` in a fresh process, for about ``seconds``. What goes wrong there becomes the fault.

    work: what that process does; :func:`run_cell`, or a test's own.
    """
    # Tables of words are views, which no process can send another; the network needs none of them.
    card = replace(cell.subject.card, title={}, description={}, variants={})
    # Made here: in the process that is measured, making it would be the peak.
    picture = next(iter(made_pictures(cell.size, cell.size).values()))
    # Spawned, not forked: memory that this process has touched must not count.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        try:
            future = pool.submit(work or run_cell, cell.subject.path, card, picture, cell.threads, seconds)
            return Measured(cell, future.result())
        except BrokenProcessPool:
            return Measured(cell, None, "the system ended it, for want of memory perhaps")
        # Whatever a network may raise: one that does not run must not cost the others their figures.
        except Exception as error:
            return Measured(cell, None, str(error))


def run_cell(path: Path, card: ModelCard, picture: RgbImage, threads: int, seconds: float) -> Figures:
    """Measure in this process: it should be a fresh one."""
    rest = peak_rss()
    start = time.perf_counter()
    stylizer = Stylizer(card, OrtSession(path, card, threads=threads))
    load = time.perf_counter() - start
    for _ in range(WARM_UPS):
        stylizer.stylize(picture)
    times = _times(lambda: stylizer.stylize(picture), seconds)
    return Figures(
        load_ms=load * 1000,
        median_ms=statistics.median(times) * 1000,
        best_ms=min(times) * 1000,
        runs=len(times),
        rest_mib=rest / _MIB,
        peak_mib=peak_rss() / _MIB,
    )


def _times(work: Callable[[], object], seconds: float) -> list[float]:
    """Seconds of each of several runs, which together take about ``seconds``."""
    times: list[float] = []
    while len(times) < LEAST_RUNS or (sum(times) < seconds and len(times) < MOST_RUNS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return times


def peak_rss() -> int:
    """The most resident memory this process has had, in bytes; 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return _peak_elsewhere()
    # Not getrusage: on Linux it begins with what the parent had when it started this process.
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * _KIB


def _peak_elsewhere() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * _KIB
