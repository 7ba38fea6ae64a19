"""Every request is counted, traced and, by setting, logged; nothing of a person's is kept."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from typing import Any

import pytest
from flask.testing import FlaskClient
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from app import create_app
from app.config import Settings
from app.conversion import STAGES
from app.engine import Engine
from app.errors import ClientGone, Overloaded
from app.telemetry.history import History
from app.telemetry.logs import FACTS
from app.telemetry.metrics import Metrics
from app.telemetry.otel import OpenTelemetry
from app.telemetry.service import Telemetry
from app.telemetry.traces import Traces
from tests.unit.stubs import FixedDetector, face_at, parts, started
from tests.unit.web.service import form, send

STRANGER = "192.0.2.77"


def telemetry(*, traces: Traces | None = None, log: bool = False) -> Telemetry:
    used = traces or Traces()
    return Telemetry(Metrics(traces=used), History(), used, None, log_requests=log)


def service(kept: Telemetry, engine: Engine | None = None, **settings: Any) -> FlaskClient:
    made = engine or started(detector=FixedDetector([face_at(20, 10, 40)]), observer=kept.metrics)
    return create_app(Settings(**settings), made, kept).test_client()


def counted(kept: Telemetry, name: str) -> Mapping[tuple[str, ...], float]:
    """The samples called ``name`` by the values of their labels, in the order of the labels' names; zeros left out."""
    families = text_string_to_metric_families(kept.metrics.exposition("")[0].decode())
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
        if sample.name == name and sample.value
    }


def test_requests_are_counted_by_route_status_and_style() -> None:
    kept = telemetry()
    client = service(kept)
    send(client, style="cute")
    send(client, style="hayao", size="1")
    send(client)
    client.get("/styles")
    client.get("/nowhere/of/mine")
    assert counted(kept, "animebooth_requests_total") == {
        ("/convert", "200", "cute"): 1,
        ("/convert", "400", "none"): 1,
        ("/convert", "200", "hayao"): 1,
        ("/styles", "200", "none"): 1,
        ("other", "404", "none"): 1,
    }


def test_rejections_are_counted_by_the_code_of_their_error() -> None:
    kept = telemetry()
    client = service(kept, api_key="secret")
    send(client)
    client.post("/convert", data=form(data=b"no picture"), headers={"X-API-Key": "secret"})
    client.get("/convert")
    assert counted(kept, "animebooth_rejected_total") == {("unauthorized",): 1, ("unsupported-image",): 1}


def test_stages_are_counted_where_a_picture_was_made() -> None:
    kept = telemetry()
    send(service(kept), style="cute")
    assert counted(kept, "animebooth_stage_seconds_count") == {(stage, "cute"): 1 for stage in STAGES}


def test_an_upload_that_the_server_had_no_room_for_is_a_refusal() -> None:
    kept = telemetry()
    service(kept).post("/convert", data=form(), environ_overrides={"animebooth.overloaded": True})
    assert counted(kept, "animebooth_refused_total") == {("uploads",): 1}
    assert counted(kept, "animebooth_rejected_total") == {("overloaded",): 1}


def test_time_counts_from_the_moment_the_request_was_all_here() -> None:
    kept = telemetry()
    service(kept).get("/healthz", environ_overrides={"animebooth.arrived": time.monotonic() - 5})
    assert 5 <= counted(kept, "animebooth_request_seconds_sum")["/healthz", "200"] < 60


def failing(error: Exception) -> Engine:
    class Failing(Engine):
        def convert_with(self, *arguments: Any, **named: Any) -> Any:
            raise error

    engine = Failing(parts())
    engine.start(warm=False)
    return engine


def test_the_last_hour_is_told_by_what_became_of_each() -> None:
    kept = telemetry()
    send(service(kept))
    send(service(kept), size="1")
    send(service(kept, failing(Overloaded(seconds=1))))
    send(service(kept, failing(ZeroDivisionError())))
    send(service(kept, failing(ClientGone())))
    service(kept).get("/")
    together = sum(kept.history.minutes().values(), start=type(next(iter(kept.history.minutes().values())))())
    assert (together.picture, together.mistaken, together.refused, together.failed) == (1, 1, 1, 1)
    assert together.seconds > 0
    assert counted(kept, "animebooth_rejected_total")["client-gone",] == 1


def logged(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [getattr(record, FACTS) for record in caplog.records if record.name == "app.requests"]


def test_a_request_is_one_line_with_what_was_done(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        sent = service(telemetry(log=True)).post(
            "/convert?style=cute&format=png", data=form(), headers={"X-Request-Id": "me-1"}
        )
    [line] = logged(caplog)
    assert line["request_id"] == sent.headers["X-Request-Id"] == "me-1"
    assert (line["method"], line["route"], line["status"], line["style"]) == ("POST", "/convert", 200, "cute")
    assert (line["width"], line["height"], line["faces"], line["format"]) == (96, 64, 1, "png")
    assert line["answer_bytes"] == len(sent.data)
    assert list(line["stages"]) == list(STAGES)
    assert line["seconds"] > 0
    assert "error" not in line


def test_an_error_is_named_by_its_code(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        send(service(telemetry(log=True)), size="1")
    [line] = logged(caplog)
    assert (line["status"], line["error"]) == (400, "invalid-option")


def test_nothing_of_a_person_is_logged_traced_or_counted(caplog: pytest.LogCaptureFixture) -> None:
    spans = InMemorySpanExporter()
    kept = telemetry(traces=OpenTelemetry(SimpleSpanProcessor(spans)), log=True)
    client = service(kept, failing(ZeroDivisionError()))
    asked = {
        "environ_overrides": {"REMOTE_ADDR": STRANGER},
        "headers": {"User-Agent": "Grandma/1.0", "Referer": "http://grandma.example/", "Cookie": "a=grandma"},
    }
    with caplog.at_level(logging.INFO):
        client.post("/convert?x=grandma", data=form(name="grandma.png"), **asked)
        client.post("/convert", data=form(name="grandma.png"), **asked)
        client.get("/grandma", **asked)
    told = caplog.text + json.dumps(logged(caplog)) + kept.metrics.exposition("")[0].decode()
    told += "".join(span.to_json() for span in spans.get_finished_spans())
    assert len(logged(caplog)) == 3
    assert STRANGER not in told
    assert "grandma" not in told.lower()


def test_unless_asked_for_requests_leave_no_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        send(service(telemetry()))
    assert logged(caplog) == []


def test_a_conversion_is_traced_with_its_stages_under_the_request() -> None:
    spans = InMemorySpanExporter()
    kept = telemetry(traces=OpenTelemetry(SimpleSpanProcessor(spans)))
    send(service(kept), style="cute")
    found = {span.name: span for span in spans.get_finished_spans()}
    root = found["POST /convert"]
    assert {*STAGES, "face.search", "POST /convert"} <= found.keys()
    assert {span.context.trace_id for span in found.values()} == {root.context.trace_id}
    assert root.attributes["http.route"] == "/convert"
    assert root.attributes["http.response.status_code"] == 200
    assert root.attributes["animebooth.style"] == "cute"
    assert all(span.parent is not None for name, span in found.items() if name != "POST /convert")


def test_a_line_names_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    spans = InMemorySpanExporter()
    kept = telemetry(traces=OpenTelemetry(SimpleSpanProcessor(spans)), log=True)
    with caplog.at_level(logging.INFO):
        service(kept).get("/healthz")
    [span] = spans.get_finished_spans()
    assert logged(caplog)[0]["trace_id"] == f"{span.context.trace_id:032x}"
