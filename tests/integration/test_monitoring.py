"""What the owner sees of a service of several processes, whose workers come and go."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.config import PROJECT_ROOT
from tests.server import Answer, Server, serve
from tests.unit.stubs import photo, png

COUNTED = "tests.integration.counted_app:application"
WORKERS = 2
PICTURE = png(photo(8, 8))


@pytest.fixture(scope="module", params=[(), ("--preload",)], ids=["one by one", "preloaded"])
def pair(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Two workers that log as JSON."""
    arguments = ("--workers", str(WORKERS), *request.param)
    with serve(*arguments, application=COUNTED, environment={"ANIMEBOOTH_LOG_FORMAT": "json"}) as server:
        yield server


def convert(server: Server, data: bytes = PICTURE) -> Answer:
    return server.post("/convert?style=hayao", body=data, headers={"Content-Type": "image/png"})


def total(server: Server, name: str, **labels: str) -> float:
    """The sum of all samples called ``name`` that have these labels, as /metrics tells them."""
    answer = server.get("/metrics")
    assert answer.status == 200, answer.text
    return sum(
        sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def converted(server: Server) -> float:
    return total(server, "animebooth_requests_total", route="/convert", status="200")


def counts_folder(server: Server) -> Path:
    """Where the workers keep their counts, as the memory of one of them tells."""
    maps = Path(f"/proc/{server.workers()[0]}/maps").read_text()
    found = re.search(r"(/\S*animebooth-counts-[^/\s]+)/", maps)
    assert found, maps
    return Path(found[1])


def lines(server: Server) -> list[dict[str, Any]]:
    """What was printed, as JSON; anything else fails."""
    return [json.loads(line) for line in server.output.splitlines()]


def test_each_worker_tells_the_counts_of_all(pair: Server) -> None:
    before = converted(pair)
    for _ in range(8):
        assert convert(pair).status == 200
    # Several times, so that each of them is asked.
    assert {converted(pair) for _ in range(8)} == {before + 8}
    assert total(pair, "animebooth_stage_seconds_count", stage="infer") >= 8


def test_all_processes_are_told_with_their_memory(pair: Server) -> None:
    memory = "animebooth_process_resident_memory_bytes"
    assert total(pair, memory, process="master", pid=str(pair.process.pid)) > 2**20
    for worker in pair.workers():
        assert total(pair, memory, process="worker", pid=str(worker)) > 2**20


def test_a_worker_that_is_killed_takes_no_counts_with_it(pair: Server) -> None:
    convert(pair)
    before, files = converted(pair), sorted(path.suffix for path in counts_folder(pair).iterdir())
    for _ in range(2):
        killed = pair.workers()[0]
        os.kill(killed, signal.SIGKILL)
        pair.wait_for_output(rf'(?s)"Worker \(pid:{killed}\) was sent SIGKILL.*Booting worker')
        pair.wait_until_ready()
        assert converted(pair) == before
    convert(pair)
    assert converted(pair) == before + 1
    # Its own are gone, and those of the dead are in one place: no more of them than before, but for that place.
    assert len(sorted(counts_folder(pair).iterdir())) <= len(files) + 3


def test_a_client_that_goes_away_or_speaks_no_http_is_counted(pair: Server) -> None:
    before = total(pair, "animebooth_rejected_total", reason="malformed")
    with contextlib.closing(socket.create_connection(("127.0.0.1", pair.port), timeout=30)) as client:
        client.sendall(b"GET\r\n\r\n")
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert b" 400 " in answer.split(b"\r\n")[0]
    assert re.search(rb"(?i)\r\nx-request-id: [0-9a-f]{16,}\r\n", answer)
    assert total(pair, "animebooth_rejected_total", reason="malformed") == before + 1


def test_a_request_is_one_line_of_json_and_so_is_all_else(pair: Server) -> None:
    sent = pair.request("GET", "/healthz", headers={"X-Request-Id": "look-for-me"})
    assert sent.headers["x-request-id"] == "look-for-me"
    pair.wait_for_output("look-for-me")
    told = lines(pair)
    assert {"time", "level", "message", "process"} <= told[0].keys()
    mine = [line for line in told if line.get("request_id") == "look-for-me"]
    assert [(line["route"], line["status"]) for line in mine] == [("/healthz", 200)]
    assert any("Listening at" in line["message"] for line in told)
    assert "127.0.0.1" not in "".join(json.dumps(line) for line in told if line["message"] == "request")


def test_the_folder_of_counts_goes_with_the_service() -> None:
    with serve("--workers", "2", application=COUNTED) as server:
        server.get("/healthz")
        folder = counts_folder(server)
        assert folder.is_dir()
        assert server.stop() == 0
        assert not folder.exists()


@pytest.mark.parametrize("signalled", ["the service", "a worker"])
def test_sigusr1_prints_what_every_thread_is_at_and_the_service_goes_on(signalled: str) -> None:
    with serve(application=COUNTED) as server:
        [worker] = server.workers()
        os.kill(server.process.pid if signalled == "the service" else worker, signal.SIGUSR1)
        server.wait_for_output(rf"(?s)Current thread 0x.*File .*worker\.py.*process {worker}")
        assert server.workers() == [worker]
        assert convert(server).status == 200


def test_where_nobody_asked_for_json_requests_leave_no_line() -> None:
    with serve(application=COUNTED) as server:
        server.request("GET", "/healthz", headers={"X-Request-Id": "look-for-me"})
        assert server.stop() == 0
        assert "look-for-me" not in server.output
        assert '{"' not in server.output


def test_the_applications_own_words_are_json_under_any_server() -> None:
    script = "import logging, os, wsgi; logging.getLogger('app.engine').warning('hear me'); os._exit(0)"
    environment = {**os.environ, "ANIMEBOOTH_LOG_FORMAT": "json"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT_ROOT, env=environment, check=True, capture_output=True, text=True
    )
    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == ["hear me"]
