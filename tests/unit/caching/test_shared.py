"""The cache of all machines: it costs a request little, and it cannot give one the answer of another."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

from app.caching.shared import LARGEST, PATIENCE, SharedCache
from app.telemetry.observer import Observer
from tests.unit.caching.clock import FakeClock

LIMIT = 30.0


class Shelf:
    """A store that a test can hold up, break and look into."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.seconds: list[int] = []
        self.asked = 0
        self.open = threading.Event()
        self.open.set()
        self.error: Exception | None = None
        self.written = threading.Semaphore(0)
        self.closed = False

    def get(self, key: str) -> bytes | None:
        self.asked += 1
        self._pass()
        return self.values.get(key)

    def put(self, key: str, value: bytes, seconds: int) -> None:
        try:
            self._pass()
            self.values[key] = value
            self.seconds.append(seconds)
        finally:
            self.written.release()

    def close(self) -> None:
        self.closed = True

    def wait_written(self) -> None:
        assert self.written.acquire(timeout=LIMIT)

    def _pass(self) -> None:
        assert self.open.wait(LIMIT)
        if self.error:
            raise self.error


class Counting(Observer):
    def __init__(self) -> None:
        self.failures = 0

    def shared_cache_failed(self) -> None:
        self.failures += 1


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    shelf = Shelf()
    yield shelf
    shelf.open.set()


def cache(shelf: Shelf, **changed: object) -> SharedCache:
    # Patience enough for a machine with other work; the tests in which it runs out say so.
    return SharedCache(shelf, 600, **{"patience": LIMIT, **changed})  # type: ignore[arg-type]


def test_what_one_process_put_in_another_finds(shelf: Shelf) -> None:
    cache(shelf).put("a", b"one")
    shelf.wait_written()
    assert cache(shelf).get("a") == b"one"
    assert cache(shelf).get("b") is None
    assert shelf.seconds == [600]


def test_the_value_of_another_key_is_no_answer(shelf: Shelf) -> None:
    """As a connection might hand it out that has got out of step."""
    shared = cache(shelf)
    shared.put("a", b"one")
    shelf.wait_written()
    shelf.values["b"] = shelf.values["a"]
    assert shared.get("b") is None
    assert shared.get("a") == b"one"


@pytest.mark.parametrize("damage", [lambda v: v[:-1], lambda v: v + b"x", lambda v: b"", lambda v: v[:-1] + b"?"])
def test_a_damaged_value_is_no_answer(shelf: Shelf, damage) -> None:
    shared = cache(shelf)
    shared.put("a", b"one")
    shelf.wait_written()
    shelf.values["a"] = damage(shelf.values["a"])
    assert shared.get("a") is None


def test_the_patience_is_less_than_what_a_request_may_lose() -> None:
    assert PATIENCE < 0.05


def test_a_slow_store_is_not_waited_for(shelf: Shelf) -> None:
    shelf.open.clear()
    assert cache(shelf, patience=0.01).get("a") is None
    # It still hangs: nobody has waited for its end.
    assert not shelf.open.is_set()


def test_a_store_that_fails_again_and_again_is_left_alone_and_tried_later(shelf: Shelf) -> None:
    clock, observer = FakeClock(), Counting()
    shared = cache(shelf, clock=clock, observer=observer)
    shelf.error = ConnectionError("gone")
    assert [shared.get("a") for _ in range(20)] == [None] * 20
    asked = shelf.asked
    assert asked < 5
    assert observer.failures == asked
    shelf.error = None
    clock.pass_(60)
    assert shared.get("a") is None
    assert shelf.asked == asked + 1


def test_its_failures_are_told_once_a_minute_without_its_address(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    clock = FakeClock()
    shared = cache(shelf, clock=clock)
    shelf.error = ConnectionError("redis://:s3cret@10.0.0.1")
    with caplog.at_level(logging.INFO):
        for _ in range(120):
            shared.get("a")
            shared.put("a", b"one")
            clock.pass_(1)
        shared.close()
    assert 1 <= len(caplog.records) <= 3
    assert "ConnectionError" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_full_store_still_gives(shelf: Shelf) -> None:
    shared = cache(shelf)
    shared.put("a", b"one")
    shelf.wait_written()

    def full(key: str, value: bytes, seconds: int) -> None:
        shelf.written.release()
        raise MemoryError

    shelf.put = full  # type: ignore[method-assign]
    for number in range(10):
        shared.put(f"b{number}", b"two")
    shelf.wait_written()
    assert shared.get("a") == b"one"


def test_writing_is_waited_for_by_nobody_and_holds_no_more_than_so_many_bytes(shelf: Shelf) -> None:
    shelf.open.clear()
    shared = cache(shelf)
    value = bytes(LARGEST)
    for number in range(100):
        shared.put(str(number), value)
    shelf.open.set()
    shared.close(wait=True)
    assert 1 <= len(shelf.values) < 50


def test_what_is_too_large_to_be_read_in_time_is_not_written(shelf: Shelf) -> None:
    shared = cache(shelf)
    shared.put("a", bytes(LARGEST + 1))
    shared.put("b", b"one")
    shelf.wait_written()
    assert list(shelf.values) == ["b"]


def test_closing_lets_go_of_the_store(shelf: Shelf) -> None:
    shared = cache(shelf)
    shared.close()
    assert shelf.closed
    assert shared.get("a") is None
    shared.put("a", b"one")
