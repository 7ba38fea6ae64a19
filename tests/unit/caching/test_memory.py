"""What is remembered, for how long, and in how much memory."""

import gc
import threading
import weakref

import pytest

from app.caching.memory import ENTRY_BYTES, MemoryCache
from tests.unit.caching.clock import FakeClock


def room(*sizes: int) -> int:
    """Bytes for values of ``sizes``."""
    return sum(sizes) + len(sizes) * ENTRY_BYTES


def cache(limit: int, seconds: float = 60, clock: FakeClock | None = None, changed=None) -> MemoryCache[bytes]:
    clock = clock or FakeClock()
    return MemoryCache(limit, seconds, size_of=len, changed=changed or nobody, clock=clock, later=clock.later)


def nobody(size: int, entries: int) -> None:
    """Told of a change, does nothing."""


def test_what_was_put_in_is_found_by_its_key_and_nothing_else_is() -> None:
    store = cache(10_000)
    store.put("a", b"one")
    assert store.get("a") == b"one"
    assert store.get("b") is None


def test_the_least_recently_used_goes_first() -> None:
    store = cache(room(4000, 4000, 4000, 4000))
    for key in "abcd":
        store.put(key, bytes(4000))
    store.get("a")
    store.put("e", bytes(4000))
    assert [key for key in "abcde" if store.get(key)] == ["a", "c", "d", "e"]


@pytest.mark.parametrize("size", [0, 1, 999, 2500])
def test_the_bytes_never_exceed_the_limit(size: int) -> None:
    limit = 4 * room(2500)
    told: list[tuple[int, int]] = []
    store = cache(limit, changed=lambda held, entries: told.append((held, entries)))
    for number in range(100):
        store.put(str(number), bytes(size))
    assert max(held for held, _ in told) <= limit
    held, entries = told[-1]
    assert held == entries * room(size)
    assert entries == limit // room(size)


def test_a_value_that_would_push_out_most_others_is_not_kept() -> None:
    store = cache(4 * room(1000))
    store.put("a", bytes(1000))
    store.put("huge", bytes(1001))
    assert store.get("huge") is None
    assert store.get("a") is not None


def test_without_room_nothing_is_kept() -> None:
    store = cache(0)
    store.put("a", b"")
    assert store.get("a") is None


def test_a_value_put_in_again_counts_once() -> None:
    told: list[tuple[int, int]] = []
    store = cache(10_000, changed=lambda held, entries: told.append((held, entries)))
    store.put("a", b"old")
    store.put("a", b"longer")
    assert store.get("a") == b"longer"
    assert told[-1] == (room(6), 1)


def test_a_value_is_found_until_its_time_is_over_however_often_it_is_asked_for() -> None:
    clock = FakeClock()
    store = cache(10_000, 60, clock)
    store.put("a", b"one")
    clock.pass_(59)
    assert store.get("a") == b"one"
    clock.pass_(1)
    assert store.get("a") is None


def test_what_is_over_is_let_go_though_nobody_asks() -> None:
    clock = FakeClock()
    told: list[tuple[int, int]] = []
    store = cache(10_000, 60, clock, changed=lambda held, entries: told.append((held, entries)))
    store.put("a", b"one")
    clock.pass_(30)
    store.put("b", b"two")
    clock.pass_(31)
    assert told[-1] == (room(3), 1)
    clock.pass_(30)
    assert told[-1] == (0, 0)
    assert clock.pending == []


def test_putting_in_again_begins_the_time_anew() -> None:
    clock = FakeClock()
    store = cache(10_000, 60, clock)
    store.put("a", b"one")
    clock.pass_(40)
    store.put("a", b"one")
    clock.pass_(40)
    assert store.get("a") == b"one"


def test_clearing_lets_go_of_everything_and_of_the_alarm() -> None:
    clock = FakeClock()
    store = cache(10_000, 60, clock)
    store.put("a", b"one")
    store.clear()
    assert store.get("a") is None
    assert clock.pending == []


def test_the_real_alarm_sweeps_and_does_not_keep_a_forgotten_cache_alive() -> None:
    empty = threading.Event()
    store = MemoryCache[bytes](10_000, 0.01, size_of=len, changed=lambda held, _: held or empty.set())
    store.put("a", b"one")
    assert empty.wait(30)
    store = MemoryCache[bytes](10_000, 3600, size_of=len, changed=nobody)
    store.put("a", b"one")
    gone = weakref.ref(store)
    del store
    gc.collect()
    assert gone() is None


def test_many_threads_at_once_keep_the_count_right() -> None:
    told: list[tuple[int, int]] = []
    store = cache(8 * room(100), changed=lambda held, entries: told.append((held, entries)))

    def work(name: int) -> None:
        for number in range(200):
            store.put(f"{(name + number) % 17}", bytes(100))
            store.get(f"{number % 17}")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held, entries = told[-1]
    assert entries == sum(store.get(str(number)) is not None for number in range(17))
    assert held == entries * room(100) <= 8 * room(100)
