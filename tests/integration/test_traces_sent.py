"""Traces reach a collector over HTTP, the last ones as the process ends; one that is gone holds up nobody."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from app.config import PROJECT_ROOT
from app.telemetry import otel

ONE_REQUEST = """
import sys
from app.telemetry import otel
from app.telemetry.service import open_traces

otel.SEND_SECONDS = float(sys.argv[2])
traces = open_traces(sys.argv[1])
with traces.request({}), traces.span("decode"):
    pass
"""


class Collector(HTTPServer):
    """Keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.taken: list[tuple[str, ExportTraceServiceRequest]] = []


class _Taking(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Not into the output of the tests."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def run(endpoint: str, seconds: float = otel.SEND_SECONDS) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ONE_REQUEST, endpoint, str(seconds)]
    # Named: else a child gets the C library's variables, where the face detector of other tests has put a proxy.
    environment = dict(os.environ)
    return subprocess.run(
        command, cwd=PROJECT_ROOT, env=environment, check=False, capture_output=True, text=True, timeout=60
    )


def test_spans_arrive_at_the_collector_before_the_process_ends(collector: Collector) -> None:
    # Whether they arrive is asked here, not how soon on a busy machine.
    done = run(f"http://127.0.0.1:{collector.server_port}/v1/traces", seconds=60)
    assert done.returncode == 0, done.stderr
    [(path, sent)] = collector.taken
    assert path == "/v1/traces"
    [resource] = sent.resource_spans
    named = {item.key: item.value.string_value for item in resource.resource.attributes}
    assert named["service.name"] == "animebooth"
    assert {span.name for scope in resource.scope_spans for span in scope.spans} == {"request", "decode"}


def test_a_collector_that_is_gone_does_not_keep_the_process(collector: Collector) -> None:
    collector.server_close()
    done = run(f"http://127.0.0.1:{collector.server_port}/v1/traces")
    assert done.returncode == 0, done.stderr
