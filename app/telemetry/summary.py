"""The figures that the owner's page shows, computed from what has been counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

from app.telemetry.minutes import KEPT_MINUTES, Minute
from app.telemetry.processes import Process

Buckets: TypeAlias = Sequence[tuple[float, float]]
"""Of a histogram: upper bound, and how many were at most that; the bounds grow, the last is infinite."""

LATELY_MINUTES: Final = 5

_CONVERT: Final = "/convert"
_PICTURE: Final = "200"
_TYPICAL: Final = 0.5
_SLOW: Final = 0.95


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts are since the start, unless a name says otherwise; times in seconds, None where nothing was measured.

    typical_seconds, slow_seconds: half, and 95 of 100, of the pictures took at most that. stages: mean time in each.
    waiting, under_way: conversions, now. batch_pictures: mean. cache: what was asked for, by outcome; cache_share: of
    these, what needed no drawing; cache_bytes: of all levels, now. hour: minute by minute, the oldest first;
    last_hour, lately: what the last 60 and 5 of them add up to. memory: bytes of all ``processes``, now.
    """

    pictures: int
    typical_seconds: float | None
    slow_seconds: float | None
    by_style: Mapping[str, int]
    by_status: Mapping[str, int]
    rejected: Mapping[str, int]
    refused: Mapping[str, int]
    stages: Mapping[str, float]
    waiting: int
    under_way: int
    batch_pictures: float | None
    cache: Mapping[str, int]
    cache_share: float | None
    cache_bytes: int
    hit_seconds: float | None
    hour: Sequence[Minute]
    last_hour: Minute
    lately: Minute
    memory: int
    processes: Sequence[Process]


def summarise(
    families: Iterable[Metric], minutes: Mapping[int, Minute], processes: Sequence[Process], now: int
) -> Summary:
    """``families`` and ``minutes`` as Metrics and History tell them; ``now``: the number of this minute."""
    counts = _Counts(families)
    asked = counts.by("cache_requests_total", "outcome", level="answer")
    hour = [minutes.get(number, Minute()) for number in range(now - KEPT_MINUTES + 1, now + 1)]
    times = counts.buckets("request_seconds", route=_CONVERT, status=_PICTURE)
    return Summary(
        pictures=int(counts.total("requests_total", route=_CONVERT, status=_PICTURE)),
        typical_seconds=quantile(times, _TYPICAL),
        slow_seconds=quantile(times, _SLOW),
        by_style=counts.by("requests_total", "style", route=_CONVERT, status=_PICTURE),
        by_status=counts.by("requests_total", "status", route=_CONVERT),
        rejected=counts.by("rejected_total", "reason"),
        refused=counts.by("refused_total", "cause"),
        stages=counts.means("stage_seconds", "stage"),
        waiting=int(counts.total("queue_length")),
        under_way=int(counts.total("conversions_under_way")),
        batch_pictures=_ratio(counts.total("batch_pictures_sum"), counts.total("batch_pictures_count")),
        cache=asked,
        cache_share=_ratio(sum(asked.values()) - asked.get("miss", 0), sum(asked.values())),
        cache_bytes=int(counts.total("cache_bytes")),
        hit_seconds=quantile(counts.buckets("cache_seconds", level="answer", outcome="hit"), _TYPICAL),
        hour=hour,
        last_hour=sum(hour, Minute()),
        lately=sum(hour[-LATELY_MINUTES:], Minute()),
        memory=sum(process.memory for process in processes),
        processes=processes,
    )


def quantile(buckets: Buckets, share: float) -> float | None:
    """What ``share`` of a histogram is at most, spread evenly within a bucket, as PromQL's histogram_quantile has it.

    None for an empty histogram; the last finite bound where it lies beyond.
    """
    if not buckets or not buckets[-1][1]:
        return None
    wanted = share * buckets[-1][1]
    for (low, below), (high, upto) in pairwise([(0.0, 0.0), *buckets]):
        if upto >= wanted:
            return low if high == float("inf") else low + (high - low) * (wanted - below) / (upto - below)
    return None


class _Counts:
    """The samples of all metrics, by name without the prefix of ours."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._samples: dict[str, list[Sample]] = {}
        for family in families:
            for sample in family.samples:
                self._samples.setdefault(sample.name.removeprefix("animebooth_"), []).append(sample)

    def _with(self, name: str, labels: Mapping[str, str]) -> Iterator[Sample]:
        for sample in self._samples.get(name, ()):
            if labels.items() <= sample.labels.items():
                yield sample

    def total(self, name: str, **labels: str) -> float:
        """The sum of what has these labels."""
        return sum(sample.value for sample in self._with(name, labels))

    def by(self, name: str, label: str, **labels: str) -> dict[str, int]:
        """Counts by the values of ``label``, the most frequent first, zeros left out."""
        counter: Counter[str] = Counter()
        for sample in self._with(name, labels):
            counter[sample.labels[label]] += int(sample.value)
        return {value: count for value, count in counter.most_common() if count}

    def buckets(self, name: str, **labels: str) -> Buckets:
        """The histogram ``name``, what has these labels together."""
        together: defaultdict[float, float] = defaultdict(float)
        for sample in self._with(f"{name}_bucket", labels):
            together[float(sample.labels["le"])] += sample.value
        return sorted(together.items())

    def means(self, name: str, label: str) -> dict[str, float]:
        """Mean of the histogram ``name`` by the values of ``label``, in the order in which they were first seen."""
        values = dict.fromkeys(sample.labels[label] for sample in self._samples.get(f"{name}_sum", ()))
        means = {
            value: _ratio(self.total(f"{name}_sum", **{label: value}), self.total(f"{name}_count", **{label: value}))
            for value in values
        }
        return {value: mean for value, mean in means.items() if mean is not None}


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
