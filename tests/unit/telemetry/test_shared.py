"""Processes of one service count together, and what a dead one had counted is kept in bounded room."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT
from app.telemetry.minutes import Minute, minute_now
from app.telemetry.shared import VARIABLE, Shared, offer_folder

COUNT = f"""
import os, signal, sys
from app.telemetry.history import History
from app.telemetry.metrics import Metrics
from app.telemetry.shared import Shared

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for folder in sys.stdin:
    if os.fork() == 0:
        os.environ["{VARIABLE}"] = folder.strip()
        shared = Shared.offered()
        metrics, history = Metrics(shared), History(shared)
        metrics.request_answered("/convert", 200, "cute", 0.3)
        metrics.queue_holds(2)
        history.add("picture", 0.3)
        print(os.getpid(), flush=True)
        while True:
            signal.pause()
"""


class Service:
    """Starts processes that have counted one request, and go on until they are killed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def counting(self, folder: Path) -> int:
        """The id of such a process, which counts in ``folder``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{folder}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    process = subprocess.Popen(
        [sys.executable, "-c", COUNT],
        cwd=PROJECT_ROOT,
        env={**os.environ, VARIABLE: "/nowhere"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        yield Service(process)
        os.killpg(process.pid, signal.SIGKILL)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def samples(shared: Shared) -> Mapping[str, float]:
    """The value of each metric, summed over its labels."""
    found: dict[str, float] = {}
    for family in shared.metrics():
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0) + sample.value
    return found


def test_the_counts_of_all_processes_are_told_together(service: Service, tmp_path: Path) -> None:
    for _ in range(2):
        service.counting(tmp_path)
    together = samples(Shared(tmp_path))
    assert together["animebooth_requests_total"] == 2
    assert together["animebooth_request_seconds_count"] == 2
    assert together["animebooth_queue_length"] == 4


def test_what_a_dead_process_had_counted_is_kept_and_what_it_held_is_not(service: Service, tmp_path: Path) -> None:
    shared = Shared(tmp_path)
    service.counting(tmp_path)
    for _ in range(3):
        dead = service.counting(tmp_path)
        kill(dead)
        shared.bury(dead)
    counted = samples(shared)
    assert counted["animebooth_requests_total"] == 4
    assert counted["animebooth_request_seconds_count"] == 4
    assert counted["animebooth_request_seconds_sum"] == pytest.approx(1.2)
    assert counted["animebooth_queue_length"] == 2


def test_files_do_not_grow_in_number_with_the_dead(service: Service, tmp_path: Path) -> None:
    shared, numbers = Shared(tmp_path), []
    for _ in range(3):
        dead = service.counting(tmp_path)
        kill(dead)
        shared.bury(dead)
        numbers.append(len(list(tmp_path.iterdir())))
    assert len(set(numbers)) == 1


def test_the_last_hour_outlives_the_processes_that_saw_it(service: Service, tmp_path: Path) -> None:
    shared, since = Shared(tmp_path), minute_now()
    living, dead = service.counting(tmp_path), service.counting(tmp_path)
    kill(dead)
    shared.bury(dead)
    seen = [minute for number, minute in shared.minutes().items() if number >= since]
    assert sum(minute.picture for minute in seen) == 2
    assert shared.processes() == [living]


def test_a_file_that_cannot_be_read_costs_its_counts_and_nothing_else(service: Service, tmp_path: Path) -> None:
    service.counting(tmp_path)
    (tmp_path / "counter_7.db").write_bytes(struct.pack("i", 1000) + b"\x7f" * 60)
    shared = Shared(tmp_path)
    shared.bury(7)
    assert samples(shared)["animebooth_requests_total"] == 1


def test_burying_somebody_who_had_counted_nothing_is_no_matter(tmp_path: Path) -> None:
    Shared(tmp_path).bury(1)
    assert samples(Shared(tmp_path)) == {}


def test_a_folder_that_has_gone_does_not_take_the_gravedigger_along(tmp_path: Path) -> None:
    Shared(tmp_path / "gone").bury(1)


def test_without_an_offer_a_process_counts_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert Shared.offered() is None


OFFER = """
import os, sys
from app.telemetry.shared import offer_folder
folder = offer_folder(sys.argv[1])
assert offer_folder(sys.argv[1]) == folder
print(folder, flush=True)
if os.fork() == 0:
    sys.exit()
os.wait()
assert folder.is_dir(), "the end of a child took the folder away"
sys.stdin.read()
"""


def offering(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", OFFER, str(parent)],
        cwd=PROJECT_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_folder_goes_with_the_process_that_offered_it(tmp_path: Path) -> None:
    process, folder = offering(tmp_path)
    assert folder.is_dir()
    assert folder.stat().st_mode & 0o777 == 0o700
    process.communicate("")
    assert process.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_service_left_is_cleared_by_the_next_and_a_living_ones_is_not(tmp_path: Path) -> None:
    killed, left = offering(tmp_path)
    living, kept = offering(tmp_path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert left.is_dir()
    third, own = offering(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([kept, own])
    for process in (living, third):
        process.communicate("")


def test_an_offer_reaches_the_processes_that_come_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/nowhere")
    folder = offer_folder(str(tmp_path))
    assert os.environ[VARIABLE] == str(folder)
    shared = Shared.offered()
    assert shared is not None
    assert list(shared.metrics()) == []


def test_minutes_are_numbered_since_the_epoch() -> None:
    assert minute_now() == pytest.approx(time.time() / 60, abs=1)
    assert Minute() + Minute(picture=1, seconds=0.5) == Minute(picture=1, seconds=0.5)
