"""What is counted can be read back by Prometheus, under names and units that its conventions ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.telemetry.metrics import Metrics
from app.telemetry.observer import CacheOutcome, Observer, RefusalCause


def samples(metrics: Metrics) -> Mapping[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample by its name and labels, as a scraper of plain text reads it."""
    text, _ = metrics.exposition("text/plain")
    families = text_string_to_metric_families(text.decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return samples(metrics)[name, tuple(sorted(labels.items()))]


def test_requests_are_counted_by_route_status_and_style() -> None:
    metrics = Metrics()
    for status in (200, 200, 503):
        metrics.request_answered("/convert", status, "cute", 0.3)
    metrics.request_answered("/styles", 200, None, 0.001)
    assert value(metrics, "animebooth_requests_total", route="/convert", status="200", style="cute") == 2
    assert value(metrics, "animebooth_requests_total", route="/convert", status="503", style="cute") == 1
    assert value(metrics, "animebooth_requests_total", route="/styles", status="200", style="none") == 1


def test_the_time_of_a_request_is_a_histogram_by_route_and_status() -> None:
    metrics = Metrics()
    metrics.request_answered("/convert", 200, "cute", 0.3)
    metrics.request_answered("/convert", 200, "cute", 70.0)
    metrics.request_answered("/convert", 503, "cute", 0.001)
    name, labels = "animebooth_request_seconds", {"route": "/convert", "status": "200"}
    assert value(metrics, f"{name}_bucket", **labels, le="0.25") == 0
    assert value(metrics, f"{name}_bucket", **labels, le="0.5") == 1
    assert value(metrics, f"{name}_bucket", **labels, le="+Inf") == 2
    assert value(metrics, f"{name}_sum", **labels) == pytest.approx(70.3)


def test_each_stage_of_a_conversion_is_a_histogram_by_style() -> None:
    metrics = Metrics()
    metrics.converted("cute", {"decode": 0.004, "infer": 0.2})
    name = "animebooth_stage_seconds"
    assert value(metrics, f"{name}_count", stage="decode", style="cute") == 1
    assert value(metrics, f"{name}_sum", stage="infer", style="cute") == pytest.approx(0.2)


def test_rejected_and_refused_requests_are_counted_by_reason() -> None:
    metrics = Metrics()
    metrics.request_rejected("rate-limited")
    metrics.refused("deadline")
    assert value(metrics, "animebooth_rejected_total", reason="rate-limited") == 1
    assert value(metrics, "animebooth_refused_total", cause="deadline") == 1


def test_the_queue_and_what_is_under_way_are_as_last_told() -> None:
    metrics = Metrics()
    metrics.queue_holds(3)
    metrics.queue_holds(2)
    metrics.under_way(1)
    metrics.turn_came(0.7)
    assert value(metrics, "animebooth_queue_length") == 2
    assert value(metrics, "animebooth_conversions_under_way") == 1
    assert value(metrics, "animebooth_queue_seconds_bucket", le="1.0") == 1


def test_batches_are_counted_by_how_many_pictures_ran_together() -> None:
    metrics = Metrics()
    for pictures in (1, 1, 4):
        metrics.batch_ran("hayao", pictures)
    name = "animebooth_batch_pictures"
    assert value(metrics, f"{name}_bucket", style="hayao", le="1.0") == 2
    assert value(metrics, f"{name}_sum", style="hayao") == 6


def test_the_cache_tells_outcomes_latency_and_size() -> None:
    metrics = Metrics()
    metrics.cache_asked("answer", "hit", 0.0002)
    metrics.cache_asked("answer", "miss", 0.0001)
    metrics.cache_holds("answer", 4096, 2)
    metrics.shared_cache_failed()
    assert value(metrics, "animebooth_cache_requests_total", level="answer", outcome="hit") == 1
    assert value(metrics, "animebooth_cache_requests_total", level="answer", outcome="shared") == 0
    assert value(metrics, "animebooth_cache_seconds_bucket", level="answer", outcome="hit", le="0.00025") == 1
    assert value(metrics, "animebooth_cache_bytes", level="answer") == 4096
    assert value(metrics, "animebooth_cache_entries", level="answer") == 2
    assert value(metrics, "animebooth_shared_cache_failures_total") == 1


def test_series_whose_labels_are_known_exist_before_anything_happens() -> None:
    """Prometheus sees the first event only as a step from 0."""
    fresh = samples(Metrics())
    for cause in get_args(RefusalCause):
        assert fresh["animebooth_refused_total", (("cause", cause),)] == 0
    for outcome in get_args(CacheOutcome):
        assert fresh["animebooth_cache_requests_total", (("level", "answer"), ("outcome", outcome))] == 0


def test_two_services_in_one_process_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.queue_holds(5)
    assert value(other, "animebooth_queue_length") == 0


def test_every_event_of_the_observer_is_counted() -> None:
    events = {name for name, method in vars(Observer).items() if callable(method)}
    assert events
    assert events <= vars(Metrics).keys()


def test_open_metrics_is_spoken_to_those_who_ask_for_it() -> None:
    text, kind = Metrics().exposition("application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text")
    assert text.endswith(b"# EOF\n")


def test_every_metric_has_a_unit_or_a_count_in_its_name_and_a_sentence_of_help() -> None:
    for family in text_string_to_metric_families(Metrics().exposition("text/plain")[0].decode()):
        assert family.name.startswith("animebooth_")
        assert family.documentation.endswith("."), family.name
