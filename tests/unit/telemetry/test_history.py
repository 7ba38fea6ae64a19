"""The last hour, minute by minute, of one process. Of several: test_shared.py."""

from __future__ import annotations

import pytest

from app.telemetry import minutes
from app.telemetry.history import History
from app.telemetry.minutes import KEPT_MINUTES, Minute, merged, read_slots, write_slots


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds since the epoch, as the module under test sees them; the first item is the time."""
    now = [1_800_000_000.0]
    monkeypatch.setattr(minutes.time, "time", lambda: now[0])
    return now


def test_what_happens_in_a_minute_is_added_up(clock: list[float]) -> None:
    told = History()
    told.add("picture", 0.5)
    told.add("picture", 1.5)
    told.add("refused", 9.0)
    told.add("failed")
    told.add("mistaken")
    assert told.minutes() == {30_000_000: Minute(picture=2, refused=1, failed=1, mistaken=1, seconds=2.0)}


def test_each_minute_has_its_own_place(clock: list[float]) -> None:
    told = History()
    told.add("picture")
    clock[0] += 60
    told.add("picture")
    assert list(told.minutes()) == [30_000_000, 30_000_001]


def test_what_is_older_than_an_hour_is_forgotten(clock: list[float]) -> None:
    told = History()
    told.add("failed")
    clock[0] += 60 * (KEPT_MINUTES - 1)
    assert len(told.minutes()) == 1
    clock[0] += 60
    assert told.minutes() == {}
    told.add("picture")
    assert told.minutes() == {30_000_000 + KEPT_MINUTES: Minute(picture=1)}


def test_minutes_of_several_processes_are_added() -> None:
    one, other = {1: Minute(picture=1), 2: Minute(refused=3)}, {2: Minute(refused=1, seconds=0.5)}
    assert merged([one, other]) == {1: Minute(picture=1), 2: Minute(refused=4, seconds=0.5)}


def test_a_file_keeps_the_newest_hour(tmp_path) -> None:
    path = tmp_path / "dead.minutes"
    write_slots(path, {number: Minute(picture=number) for number in range(1, KEPT_MINUTES + 11)})
    kept = read_slots(path.read_bytes())
    assert sorted(kept) == list(range(11, KEPT_MINUTES + 11))
    assert all(minute.picture == number for number, minute in kept.items())


def test_what_is_no_such_file_holds_nothing() -> None:
    assert read_slots(b"") == {}
    assert read_slots(b"x" * 100) == {}
