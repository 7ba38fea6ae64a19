"""The figures of the owner's page, from what was counted."""

from __future__ import annotations

import math

import pytest

from app.telemetry.metrics import Metrics
from app.telemetry.minutes import KEPT_MINUTES, Minute
from app.telemetry.summary import Buckets, Summary, quantile, summarise


def summary(metrics: Metrics, minutes: dict[int, Minute] | None = None, now: int = 1000) -> Summary:
    return summarise(metrics.families(), minutes or {}, [], now)


@pytest.mark.parametrize(
    ("buckets", "share", "expected"),
    [
        ([(1.0, 0.0), (2.0, 10.0), (math.inf, 10.0)], 0.5, 1.5),
        ([(1.0, 5.0), (2.0, 10.0), (math.inf, 10.0)], 0.5, 1.0),
        ([(1.0, 10.0), (math.inf, 10.0)], 0.95, 0.95),
        ([(1.0, 0.0), (2.0, 1.0), (math.inf, 4.0)], 0.95, 2.0),
        ([(1.0, 0.0), (math.inf, 0.0)], 0.5, None),
        ([], 0.5, None),
    ],
)
def test_a_quantile_is_read_within_its_bucket_as_prometheus_reads_it(
    buckets: Buckets, share: float, expected: float | None
) -> None:
    assert quantile(buckets, share) == (None if expected is None else pytest.approx(expected))


def test_a_fresh_service_has_figures_and_none_of_them_is_made_up() -> None:
    told = summary(Metrics())
    assert told.pictures == 0
    assert told.typical_seconds is None
    assert told.cache_share is None
    assert told.stages == {}
    assert len(told.hour) == KEPT_MINUTES
    assert (told.waiting, told.under_way, told.memory) == (0, 0, 0)


def test_pictures_and_their_time_are_those_of_requests_that_got_one() -> None:
    metrics = Metrics()
    for seconds in (0.2, 0.2, 0.2, 4.0):
        metrics.request_answered("/convert", 200, "cute", seconds)
    metrics.request_answered("/convert", 200, "hayao", 0.2)
    metrics.request_answered("/convert", 503, "cute", 0.001)
    metrics.request_answered("/", 200, None, 9.0)
    told = summary(metrics)
    assert told.pictures == 5
    assert told.by_style == {"cute": 4, "hayao": 1}
    assert told.by_status == {"200": 5, "503": 1}
    assert 0.1 < (told.typical_seconds or 0) < 0.25
    assert 2.5 < (told.slow_seconds or 0) <= 5


def test_rejections_come_with_the_most_frequent_first() -> None:
    metrics = Metrics()
    for reason in ("broken-image", "overloaded", "overloaded"):
        metrics.request_rejected(reason)
    metrics.refused("deadline")
    told = summary(metrics)
    assert list(told.rejected.items()) == [("overloaded", 2), ("broken-image", 1)]
    assert told.refused == {"deadline": 1}


def test_stages_are_told_by_their_mean_in_the_order_of_the_work() -> None:
    metrics = Metrics()
    metrics.converted("cute", {"decode": 0.01, "face": 0.02, "infer": 0.2})
    metrics.converted("hayao", {"decode": 0.03, "face": 0.02, "infer": 0.4})
    assert summary(metrics).stages == {
        "decode": pytest.approx(0.02),
        "face": pytest.approx(0.02),
        "infer": pytest.approx(0.3),
    }


def test_the_cache_is_told_by_what_needed_no_drawing() -> None:
    metrics = Metrics()
    for outcome in ("hit", "joined", "shared", "miss"):
        metrics.cache_asked("answer", outcome, 0.0004)
    metrics.cache_asked("drawing", "miss", 0.0001)
    metrics.cache_holds("answer", 1000, 2)
    metrics.cache_holds("drawing", 500, 1)
    told = summary(metrics)
    assert told.cache_share == 0.75
    assert told.cache_bytes == 1500
    assert told.cache == {"hit": 1, "shared": 1, "joined": 1, "miss": 1}
    assert 0.00025 <= (told.hit_seconds or 0) <= 0.0005


def test_what_waits_and_what_runs_is_told_as_it_is_now() -> None:
    metrics = Metrics()
    metrics.queue_holds(3)
    metrics.under_way(2)
    metrics.batch_ran("cute", 1)
    metrics.batch_ran("cute", 4)
    told = summary(metrics)
    assert (told.waiting, told.under_way, told.batch_pictures) == (3, 2, 2.5)


def test_the_last_hour_has_every_minute_the_oldest_first() -> None:
    told = summary(Metrics(), {1000: Minute(picture=2, seconds=1.0), 941: Minute(refused=1)}, now=1000)
    assert len(told.hour) == KEPT_MINUTES
    assert told.hour[-1] == Minute(picture=2, seconds=1.0)
    assert told.hour[0] == Minute(refused=1)
    assert told.last_hour == Minute(picture=2, refused=1, seconds=1.0)
    assert told.lately == Minute(picture=2, seconds=1.0)
