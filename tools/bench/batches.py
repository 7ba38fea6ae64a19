"""What batches and ways of dividing the processors bring: to clients that want pictures all the time, and to one."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np

from app.inference.batcher import Batcher
from app.inference.network import Network
from app.types import Session, Tensor

LEAST_PICTURES: Final = 3
"""For each client, at least: the first ones find nobody before them."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way of dividing the processors. runs: at once. alone, beside: threads of a lone run, and of one of several."""

    name: str
    runs: int
    alone: int
    beside: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured. rate: pictures a second with all clients. p95, lone: milliseconds from the wish to the
    picture, with all clients and with one."""

    rate: float
    p95: float
    lone: float


class Trusted(Network):
    """A network whose batches are taken as they come, the very same pixels or not: to measure what they would cost."""

    def _prove(self, kind: object, tensors: Sequence[Tensor], answers: list[Tensor]) -> list[Tensor]:
        return answers


def ways(threads: int) -> list[Way]:
    """Those worth comparing on so many processors."""
    found = [Way(f"1 x {threads}", 1, threads, threads)]
    if threads > 1:
        half = threads // 2
        found += [
            Way(f"{threads} x 1", threads, 1, 1),
            Way(f"1 x {threads}, or 2 x {half}", 2, threads, half),
            Way(f"2 x {threads}", 2, threads, threads),
        ]
    return found


def gives_the_same(session: Session, tensor: Tensor, together: int) -> bool:
    """Whether a batch of ``together`` different pictures of this shape gives the very output of single runs."""
    pictures = [np.roll(tensor, shift, axis=-2) * np.float32(1 - shift / 16) for shift in range(together)]
    batch = session.run(np.concatenate(pictures))
    return all(np.array_equal(session.run(one)[0], many) for one, many in zip(pictures, batch, strict=True))


def measure(
    open_session: Callable[[int], Session],
    tensor: Tensor,
    way: Way,
    together: int,
    *,
    clients: int,
    seconds: float,
) -> Figures:
    """Have ``clients`` ask for ``tensor`` again and again for ``seconds``, then one alone.

    open_session: a session with so many threads.
    """
    network = Trusted("style", open_session(way.alone), open_session(way.beside), most=together)
    batcher = Batcher(way.runs, together=together)

    def ask() -> None:
        batcher.run(network, tensor)

    _crowd(ask, clients, 0.0)
    times, took = _crowd(ask, clients, seconds)
    lone, _ = _crowd(ask, 1, seconds / 4)
    return Figures(len(times) / took, 1000 * _p95(times), 1000 * statistics.median(lone))


def _crowd(ask: Callable[[], None], clients: int, seconds: float) -> tuple[list[float], float]:
    """Seconds that each wish took, and the whole. Each client asks anew as soon as it has its picture."""
    times: list[float] = []
    begun = time.perf_counter()

    def client() -> None:
        for asked in count():
            start = time.perf_counter()
            if asked >= LEAST_PICTURES and start - begun > seconds:
                return
            ask()
            times.append(time.perf_counter() - start)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, time.perf_counter() - begun


def _p95(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20, method="inclusive")[-1]


def table(rows: Sequence[tuple[Way, dict[int, Figures]]]) -> Iterator[str]:
    """Markdown: a row for each way, a column for each batch size: pictures a second / p95 / alone."""
    sizes = sorted({size for _, cells in rows for size in cells})
    yield "| Runs x threads | " + " | ".join(f"batch {size}" for size in sizes) + " |"
    yield "|" + "---|" * (len(sizes) + 1)
    for way, cells in rows:
        told = (_cell(cells[size]) if size in cells else "-" for size in sizes)
        yield f"| {way.name} | " + " | ".join(told) + " |"


def _cell(figures: Figures) -> str:
    return f"{figures.rate:.1f} / {figures.p95:.0f} / {figures.lone:.0f}"
