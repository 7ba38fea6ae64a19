"""One cell: a fresh process, figures that make sense, and faults that cost no other cell."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from app.config import PROJECT_ROOT
from app.inference.card import ModelCard
from app.inference.registry import ModelRegistry
from app.types import RgbImage
from tools.bench.cell import LEAST_RUNS, Cell, Figures, measure, peak_rss
from tools.judge.subjects import find_subject

SUBJECT = find_subject("hayao", ModelRegistry.load(PROJECT_ROOT / "models"))
CELL = Cell(SUBJECT, 32, 1)


def tell_pid(path: Path, card: ModelCard, picture: RgbImage, threads: int, seconds: float) -> Figures:
    """The process's number in place of a time, and what it was given in place of others."""
    return Figures(os.getpid(), picture.shape[1], threads, len(card.title), 0, seconds)


def die(path: Path, card: ModelCard, picture: RgbImage, threads: int, seconds: float) -> Figures:
    """As a process that takes all the memory there is."""
    os._exit(137)


def test_a_network_is_measured() -> None:
    measured = measure(CELL, 0.0)
    figures = measured.figures
    assert measured.fault is None
    assert figures is not None
    assert figures.runs == LEAST_RUNS
    assert 0 < figures.best_ms <= figures.median_ms
    assert figures.load_ms > 0
    # Python with numpy and ONNX Runtime has more than 20 MiB, and a network of 2 MB at 32 px no gigabyte.
    assert 20 < figures.rest_mib < figures.peak_mib < 1000


def test_the_process_is_another_and_is_handed_what_it_needs() -> None:
    figures = measure(Cell(SUBJECT, 48, 2), 0.5, tell_pid).figures
    assert figures is not None
    assert figures.load_ms != os.getpid()
    assert (figures.median_ms, figures.best_ms, figures.peak_mib) == (48, 2, 0.5)


def test_making_the_picture_is_no_part_of_the_memory_measured() -> None:
    small, large = (measure(Cell(SUBJECT, side, 1), 0.5, tell_memory).figures for side in (64, 1024))
    assert small is not None
    assert large is not None
    # Made in that process it would take 100 MiB; its own bytes, sent there and unpacked, are 3.
    assert large.peak_mib - small.peak_mib < 30


def tell_memory(path: Path, card: ModelCard, picture: RgbImage, threads: int, seconds: float) -> Figures:
    """The peak of a process that does nothing."""
    return Figures(0, 0, 0, 0, 0, peak_rss() / (1 << 20))


def test_a_process_that_is_ended_is_a_fault_of_its_cell() -> None:
    measured = measure(CELL, 0.0, die)
    assert measured.figures is None
    assert measured.fault == "the system ended it, for want of memory perhaps"


def test_a_network_that_does_not_load_is_a_fault_of_its_cell(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"bad")
    measured = measure(Cell(replace(SUBJECT, path=tmp_path / "bad.onnx"), 32, 1), 0.0)
    assert measured.figures is None
    assert "bad.onnx" in (measured.fault or "")


def test_peak_memory_grows_with_what_is_used_and_never_shrinks() -> None:
    before = peak_rss()
    # More than it ever had, as what it has now may be less.
    block = bytearray(2 * before)
    block[::4096] = b"x" * len(block[::4096])
    during = peak_rss()
    del block
    assert during > 1.5 * before
    # The kernel counts pages in batches for each processor.
    assert peak_rss() > 0.99 * during
