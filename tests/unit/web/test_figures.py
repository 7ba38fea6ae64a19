"""Numbers as people read them."""

from __future__ import annotations

import pytest

from app.web.figures import UNKNOWN, memory, per_cent, seconds, span, whole


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, UNKNOWN),
        (0.0, "0.0 ms"),
        (0.0004, "0.4 ms"),
        (0.00996, "10 ms"),
        (0.0123, "12 ms"),
        (0.1, "0.10 s"),
        (0.314, "0.31 s"),
        (0.996, "1.0 s"),
        (4.24, "4.2 s"),
        (9.96, "10 s"),
        (61.2, "61 s"),
    ],
)
def test_times_are_as_short_as_may_be_read(value: float | None, shown: str) -> None:
    assert seconds(value) == shown


def test_large_counts_are_grouped() -> None:
    assert (whole(0), whole(999), whole(1234567)) == ("0", "999", "1,234,567")


def test_shares_are_per_cent() -> None:
    assert (per_cent(None), per_cent(0.0), per_cent(0.754)) == (UNKNOWN, "0 %", "75 %")


def test_memory_is_in_the_unit_that_fits() -> None:
    assert [memory(count) for count in (0, 2048, 310 * 2**20, 1234 * 2**20)] == ["0 KiB", "2 KiB", "310 MiB", "1.2 GiB"]


def test_a_long_time_is_told_by_its_two_largest_units() -> None:
    assert span(None, "en") == UNKNOWN
    assert span(59, "en") == "0 min"
    assert span(3 * 3600 + 125, "en") == "3 h 2 min"
    assert span(86_400 * 3 + 4 * 3600, "zh") == "3 天 4 小时"
    assert span(61, "ja") == "1 分"
