"""Many replies in a few numbers, and what is made of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.load.client import Reply
from tools.load.summary import Summary, percentile, summarise
from tools.load.verdict import of_clients, of_hits, of_overload

REFUSAL = Reply(503, 0.0, 0.02, "overloaded", headers={"retry-after": "5"})


def picture(seconds: float, cache: str = "miss", at_service: float = 3.0) -> Reply:
    headers = {"x-cache": cache, "server-timing": f"decode;dur=1.0, total;dur={at_service}"}
    return Reply(200, 0.0, seconds, digest="d", headers=headers)


@pytest.mark.parametrize(("share", "value"), [(50, 2.0), (75, 3.0), (95, 4.0), (99, 4.0), (100, 4.0), (1, 1.0)])
def test_a_percentile_is_one_of_the_values(share: float, value: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], share) == value


def test_nothing_has_no_percentiles() -> None:
    assert percentile([], 99) == 0.0


def test_pictures_refusals_and_failures_are_told_apart() -> None:
    replies = [picture(0.1), picture(0.3), picture(0.2, "hit"), REFUSAL]
    replies += [
        Reply(500, 0.0, 0.1, "internal-error"),
        Reply(0, 0.0, 9.0, error="TimeoutError: "),
        replace(REFUSAL, headers={}),
    ]
    seen = summarise("all", replies, 2.0, [100.0, 300.0, 200.0])
    assert (seen.sent, seen.pictures, seen.refused, seen.hits) == (7, 3, 1, 1)
    assert seen.rate == 1.5
    assert (seen.p50, seen.p95, seen.hits_p50, seen.refused_p50) == (200.0, 300.0, 3.0, 20.0)
    assert seen.failures == {"500 internal-error": 1, "TimeoutError: ": 1, "503 overloaded": 1}
    assert seen.mib == (100.0, 300.0, 200.0)


def stage(**fields: object) -> Summary:
    plain = summarise("stage", [picture(0.1)] * 10, 1.0, [1.0])
    return replace(plain, **fields)  # type: ignore[arg-type]


def holds(verdicts) -> list[bool]:
    return [verdict.holds for verdict in verdicts]


def test_throughput_may_not_fall_with_the_number_of_clients() -> None:
    assert holds(of_clients([stage(rate=9.0), stage(rate=10.0), stage(rate=9.1)])) == [True, True]
    assert holds(of_clients([stage(rate=8.9), stage(rate=10.0)])) == [False, True]
    assert holds(of_clients([stage(rate=9.0), stage(rate=10.0), stage(rate=8.9)])) == [False, True]
    assert holds(of_clients([stage(rate=0.0)])) == [False, True]


def test_no_stage_may_have_failures() -> None:
    assert holds(of_clients([stage(), stage(failures={"500 internal-error": 1})])) == [True, False]


def test_overload_asks_for_pictures_in_time_and_quick_refusals() -> None:
    good = stage(p99=59_000.0, refused=10, refused_p50=99.0)
    assert holds(of_overload(good, 60.0)) == [True, True, True]
    assert holds(of_overload(replace(good, p99=61_000.0), 60.0)) == [False, True, True]
    assert holds(of_overload(replace(good, refused_p50=101.0), 60.0)) == [True, False, True]
    assert holds(of_overload(replace(good, failures={"TimeoutError: ": 1}), 60.0)) == [True, True, False]


def test_overload_without_a_picture_or_a_refusal_proves_nothing() -> None:
    assert holds(of_overload(stage(p99=0.0, refused=0, refused_p50=0.0), 60.0)) == [False, False, True]


def test_every_request_but_the_first_must_be_a_quick_hit() -> None:
    assert holds(of_hits(stage(sent=10, hits=9, hits_p50=4.9))) == [True]
    assert holds(of_hits(stage(sent=10, hits=8, hits_p50=4.9))) == [False]
    assert holds(of_hits(stage(sent=10, hits=9, hits_p50=5.1))) == [False]
