"""What the system knows of a process: memory, processor time, its start."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from app.telemetry.processes import Process, process_metrics, read_process

STAT = "42 (a (curious) name) S 1 42 42 0 -1 4194304 9 0 0 0 250 50 0 0 20 0 12 0 100000 999999 1000 0 0\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A /proc with one process, 42, on a machine that started at second 1,800,000,000."""
    (tmp_path / "42").mkdir()
    (tmp_path / "42" / "stat").write_text(STAT)
    (tmp_path / "stat").write_text("cpu  1 2 3\nbtime 1800000000\nprocesses 9\n")
    return tmp_path


def test_a_process_is_read_whatever_its_name(proc: Path) -> None:
    hertz, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    expected = Process(
        pid=42,
        role="worker",
        memory=1000 * page,
        cpu_seconds=300 / hertz,
        threads=12,
        started=1_800_000_000 + 100_000 / hertz,
    )
    assert read_process(42, "worker", proc=proc) == expected


def test_a_process_that_has_gone_is_left_out(proc: Path) -> None:
    assert read_process(43, "worker", proc=proc) is None


def test_a_system_without_proc_tells_nothing(tmp_path: Path) -> None:
    assert read_process(os.getpid(), "worker", proc=tmp_path / "none") is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_this_very_process_has_memory_and_a_start_in_the_past() -> None:
    own = read_process(os.getpid(), "worker")
    assert own is not None
    assert 10 * 2**20 < own.memory < 4 * 2**30
    assert 0 < own.started <= time.time() + 1
    assert own.threads >= 1


def test_each_process_is_told_by_role_and_id() -> None:
    process = Process(pid=7, role="master", memory=4096, cpu_seconds=1.5, threads=2, started=10.0)
    samples = {sample.name: sample for family in process_metrics([process]) for sample in family.samples}
    assert samples["animebooth_process_resident_memory_bytes"].value == 4096
    assert samples["animebooth_process_cpu_seconds_total"].value == 1.5
    assert samples["animebooth_process_start_time_seconds"].value == 10.0
    assert samples["animebooth_process_threads"].value == 2
    assert all(sample.labels == {"process": "master", "pid": "7"} for sample in samples.values())
