"""What the system knows of the service's processes, read when somebody asks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from app.telemetry.shared import Shared

Role: TypeAlias = Literal["master", "worker"]

_PROC: Final = Path("/proc")
_LABELS: Final = ("process", "pid")


@dataclass(frozen=True, slots=True)
class Process:
    """memory: bytes resident. cpu_seconds: in user and system mode. started: seconds since the epoch."""

    pid: int
    role: Role
    memory: int
    cpu_seconds: float
    threads: int
    started: float


def service_processes(shared: Shared | None) -> list[Process]:
    """The processes of this service, the one that started the others first; none where the system has no /proc."""
    if shared is None:
        found = [read_process(os.getpid(), "worker")]
    else:
        master = os.getppid()
        workers = sorted({*shared.processes(), os.getpid()} - {master})
        found = [read_process(master, "master"), *(read_process(pid, "worker") for pid in workers)]
    return [process for process in found if process is not None]


def read_process(pid: int, role: Role, *, proc: Path = _PROC) -> Process | None:
    """The process ``pid``, or None where it has gone or there is no /proc."""
    try:
        # The name of the program is in brackets and may hold anything. See proc_pid_stat(5) for the numbers.
        fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        boot = _boot_time((proc / "stat").read_text().splitlines())
    except OSError:
        return None
    hertz = os.sysconf("SC_CLK_TCK")
    return Process(
        pid=pid,
        role=role,
        memory=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
        cpu_seconds=(int(fields[11]) + int(fields[12])) / hertz,
        threads=int(fields[17]),
        started=boot + int(fields[19]) / hertz,
    )


def _boot_time(lines: Iterable[str]) -> int:
    return next((int(line.split()[1]) for line in lines if line.startswith("btime ")), 0)


def process_metrics(processes: Sequence[Process]) -> list[Metric]:
    """``processes`` for Prometheus."""
    memory = GaugeMetricFamily(
        "animebooth_process_resident_memory_bytes", "Memory that a process really takes.", labels=_LABELS
    )
    cpu = CounterMetricFamily("animebooth_process_cpu_seconds", "Processor time of a process.", labels=_LABELS)
    threads = GaugeMetricFamily("animebooth_process_threads", "Threads of a process.", labels=_LABELS)
    started = GaugeMetricFamily(
        "animebooth_process_start_time_seconds", "When a process started, since the epoch.", labels=_LABELS
    )
    for process in processes:
        labels = (process.role, str(process.pid))
        memory.add_metric(labels, process.memory)
        cpu.add_metric(labels, process.cpu_seconds)
        threads.add_metric(labels, process.threads)
        started.add_metric(labels, process.started)
    return [memory, cpu, threads, started]
