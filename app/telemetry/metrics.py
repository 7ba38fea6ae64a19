"""What happens, counted for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Final, get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    exposition,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics

from app.telemetry.observer import CacheLevel, CacheOutcome, Observer, RefusalCause
from app.telemetry.shared import Shared
from app.telemetry.traces import Traces
from app.types import StyleId

NO_STYLE: Final = "none"
"""Label of requests that name no style, or fail before it is known."""

_REQUEST_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0, 60.0)
_STAGE_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_QUEUE_SECONDS: Final = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_CACHE_SECONDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 1.0)
_BATCH_PICTURES: Final = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0)

# Twice the series, and those of several processes have none.
disable_created_metrics()


class Metrics(Observer):
    """Counts every event of an Observer; ``exposition`` tells the counts of all processes of the service together.

    shared: where the processes keep their counts, or None for a service of one process. Gauges are what this process
    holds; those of several add up, and a process that ends takes its own away. traces: where its spans go.
    """

    def __init__(self, shared: Shared | None = None, traces: Traces | None = None) -> None:
        self._shared = shared
        self._traces = traces or Traces()
        self._registry = CollectorRegistry()
        self._name_requests()
        self._name_work()
        self._name_caches()

    def _name_requests(self) -> None:
        self._requests = self._counter("requests", "Answers sent.", "route", "status", "style")
        self._request_seconds = self._histogram(
            "request_seconds",
            "From the moment a request was all here until its answer was ready.",
            _REQUEST_SECONDS,
            "route",
            "status",
        )
        self._rejected = self._counter("rejected", "Requests for a picture that got none.", "reason")
        self._refused = self._counter("refused", "Requests turned away because something was full.", "cause")
        for cause in get_args(RefusalCause):
            self._refused.labels(cause)

    def _name_work(self) -> None:
        self._stage_seconds = self._histogram(
            "stage_seconds", "Time spent in each stage of a conversion.", _STAGE_SECONDS, "stage", "style"
        )
        self._queue_length = self._gauge("queue_length", "Conversions that wait for their turn.")
        self._queue_seconds = self._histogram(
            "queue_seconds", "How long conversions waited for their turn.", _QUEUE_SECONDS
        )
        self._under_way = self._gauge("conversions_under_way", "Conversions that have their turn.")
        self._batch_pictures = self._histogram(
            "batch_pictures", "Pictures in each run of a network.", _BATCH_PICTURES, "style"
        )

    def _name_caches(self) -> None:
        self._cache_requests = self._counter("cache_requests", "What the caches were asked.", "level", "outcome")
        self._cache_seconds = self._histogram(
            "cache_seconds", "How long it took to ask a cache.", _CACHE_SECONDS, "level", "outcome"
        )
        self._cache_bytes = self._gauge("cache_bytes", "Memory that the caches hold.", "level")
        self._cache_entries = self._gauge("cache_entries", "Pictures that the caches hold.", "level")
        self._shared_cache_failures = self._counter(
            "shared_cache_failures", "Requests that went on without the cache of all machines."
        )
        for level in get_args(CacheLevel):
            for outcome in get_args(CacheOutcome):
                self._cache_requests.labels(level, outcome)

    # What happens

    def request_answered(self, route: str, status: int, style: StyleId | None, seconds: float) -> None:
        """See Observer."""
        self._requests.labels(route, str(status), style or NO_STYLE).inc()
        self._request_seconds.labels(route, str(status)).observe(seconds)

    def request_rejected(self, reason: str) -> None:
        """See Observer."""
        self._rejected.labels(reason).inc()

    def refused(self, cause: RefusalCause) -> None:
        """See Observer."""
        self._refused.labels(cause).inc()

    def converted(self, style: StyleId, stages: Mapping[str, float]) -> None:
        """See Observer."""
        for stage, seconds in stages.items():
            self._stage_seconds.labels(stage, style).observe(seconds)

    def queue_holds(self, waiting: int) -> None:
        """See Observer."""
        self._queue_length.set(waiting)

    def turn_came(self, waited: float) -> None:
        """See Observer."""
        self._queue_seconds.observe(waited)

    def under_way(self, conversions: int) -> None:
        """See Observer."""
        self._under_way.set(conversions)

    def batch_ran(self, style: StyleId, pictures: int) -> None:
        """See Observer."""
        self._batch_pictures.labels(style).observe(pictures)

    def cache_asked(self, level: CacheLevel, outcome: CacheOutcome, seconds: float) -> None:
        """See Observer."""
        self._cache_requests.labels(level, outcome).inc()
        self._cache_seconds.labels(level, outcome).observe(seconds)

    def cache_holds(self, level: CacheLevel, bytes: int, entries: int) -> None:
        """See Observer."""
        self._cache_bytes.labels(level).set(bytes)
        self._cache_entries.labels(level).set(entries)

    def shared_cache_failed(self) -> None:
        """See Observer."""
        self._shared_cache_failures.inc()

    def span(self, name: str) -> AbstractContextManager[object]:
        """See Observer."""
        return self._traces.span(name)

    # What is told of it

    def families(self) -> list[Metric]:
        """Every metric with its samples, those of all processes together."""
        return list(self._shared.metrics() if self._shared else self._registry.collect())

    def exposition(self, accept: str, more: Iterable[Metric] = ()) -> tuple[bytes, str]:
        """The metrics, and ``more`` besides, in the format that ``accept`` asks for, and its content type."""
        told = _Told([*self.families(), *more])
        # Not by the library's own choice, which fails on versions it cannot read.
        if "application/openmetrics-text" in accept:
            return openmetrics.generate_latest(told), openmetrics.CONTENT_TYPE_LATEST
        return exposition.generate_latest(told), exposition.CONTENT_TYPE_PLAIN_0_0_4

    def _counter(self, name: str, help: str, *labels: str) -> Counter:
        return Counter(f"animebooth_{name}", help, labels, registry=self._registry)

    def _gauge(self, name: str, help: str, *labels: str) -> Gauge:
        return Gauge(f"animebooth_{name}", help, labels, registry=self._registry, multiprocess_mode="livesum")

    def _histogram(self, name: str, help: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"animebooth_{name}", help, labels, registry=self._registry, buckets=buckets)


class _Told:
    """What the encoders of prometheus_client take."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        """All of it."""
        return self._families
