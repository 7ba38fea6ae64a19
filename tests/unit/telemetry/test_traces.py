"""Traces are made where the owner asks for them, and nothing of OpenTelemetry is even loaded where not."""

from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.config import PROJECT_ROOT, SettingError
from app.telemetry.otel import OpenTelemetry
from app.telemetry.service import open_traces
from app.telemetry.traces import Traces

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


@pytest.fixture
def kept() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traces(kept: InMemorySpanExporter) -> OpenTelemetry:
    return OpenTelemetry(SimpleSpanProcessor(kept))


def test_a_request_and_what_was_done_for_it_are_one_trace(traces: OpenTelemetry, kept: InMemorySpanExporter) -> None:
    with traces.request({}):
        with traces.span("decode"):
            pass
        with traces.span("blend"), traces.span("infer"):
            pass
        traces.answered("POST /convert", {"http.route": "/convert", "http.response.status_code": 200})
    spans = {span.name: span for span in kept.get_finished_spans()}
    root = spans["POST /convert"]
    assert root.parent is None
    assert root.kind.name == "SERVER"
    assert dict(root.attributes or {}) == {"http.route": "/convert", "http.response.status_code": 200}
    assert {span.context.trace_id for span in spans.values()} == {root.context.trace_id}
    assert spans["decode"].parent.span_id == root.context.span_id
    assert spans["infer"].parent.span_id == spans["blend"].context.span_id


def test_the_trace_of_whoever_asks_goes_on(traces: OpenTelemetry, kept: InMemorySpanExporter) -> None:
    with traces.request({"traceparent": f"00-{TRACE}-{PARENT}-01"}):
        assert traces.trace_id() == TRACE
    [span] = kept.get_finished_spans()
    assert f"{span.parent.span_id:016x}" == PARENT


@pytest.mark.parametrize("sent", ["", "00-xyz-1-01", "<b>", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"])
def test_a_traceparent_that_is_none_begins_a_new_trace(
    sent: str, traces: OpenTelemetry, kept: InMemorySpanExporter
) -> None:
    with traces.request({"traceparent": sent}):
        pass
    assert kept.get_finished_spans()[0].parent is None


def test_a_fault_of_ours_is_marked_and_one_of_the_sender_is_not(
    traces: OpenTelemetry, kept: InMemorySpanExporter
) -> None:
    for status in (500, 503, 400):
        with traces.request({}):
            traces.answered("POST /convert", {"http.response.status_code": status})
    marked = [span.status.is_ok for span in kept.get_finished_spans()]
    assert marked == [False, False, True]


def test_what_a_fault_says_is_not_written_into_the_trace(traces: OpenTelemetry, kept: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="grandma"), traces.request({}), traces.span("decode"):
        raise ValueError("/home/grandma.jpg")
    assert "grandma" not in "".join(span.to_json() for span in kept.get_finished_spans())


def test_the_service_names_itself(traces: OpenTelemetry, kept: InMemorySpanExporter) -> None:
    with traces.request({}):
        pass
    named = kept.get_finished_spans()[0].resource.attributes
    assert named["service.name"] == "animebooth"
    assert named["service.version"]


def test_without_traces_everything_goes_on_as_well() -> None:
    none = Traces()
    with none.request({}), none.span("decode"):
        none.answered("GET /", {})
    assert none.trace_id() is None
    assert type(open_traces("")) is Traces


@pytest.mark.parametrize("endpoint", ["collector:4318", "ftp://collector/v1/traces", "http://"])
def test_an_address_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(SettingError, match="ANIMEBOOTH_TRACES"):
        open_traces(endpoint)


def test_missing_packages_are_named_with_the_file_that_lists_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "app.telemetry.otel", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(SettingError, match=r"requirements-traces\.txt"):
        open_traces("http://127.0.0.1:1/v1/traces")


OFF = """
import sys
sys.modules["opentelemetry"] = None
from tests.unit.web.service import client
assert client().get("/healthz").status_code == 200
assert not any(name.startswith("opentelemetry.") for name in sys.modules)
"""


def test_unless_asked_for_nothing_of_opentelemetry_is_loaded_and_the_service_runs_without() -> None:
    done = subprocess.run([sys.executable, "-c", OFF], cwd=PROJECT_ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
