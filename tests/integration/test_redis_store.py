"""The shared cache with a real Redis: quick, slow, full, gone and back."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import redis

from app.caching.redis_store import NAMESPACE, RedisStore
from app.caching.shared import FAILURES, PAUSE, SharedCache
from app.telemetry.observer import Observer
from tests.redis_server import RedisServer, redis_server
from tests.unit.caching.clock import FakeClock

LIMIT = 30.0


class Failures(Observer):
    """Lets a test wait for what goes on in another thread."""

    def __init__(self) -> None:
        self._told = threading.Semaphore(0)

    def shared_cache_failed(self) -> None:
        self._told.release()

    def wait(self) -> None:
        assert self._told.acquire(timeout=LIMIT)


@pytest.fixture(scope="module")
def running() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
def admin(running: RedisServer) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(running.url) as client:
        client.flushall()
        yield client


@pytest.fixture
def store(running: RedisServer, admin: redis.Redis) -> Iterator[RedisStore]:
    store = RedisStore(running.url, patience=LIMIT)
    yield store
    store.close()


def test_a_value_is_found_again_until_its_time_is_over(store: RedisStore, admin: redis.Redis) -> None:
    assert store.get("a") is None
    store.put("a", b"\x00\xff" * 100_000, 600)
    assert store.get("a") == b"\x00\xff" * 100_000
    assert 590 <= admin.ttl(f"{NAMESPACE}a") <= 600


def test_nothing_is_kept_under_another_name(store: RedisStore, admin: redis.Redis) -> None:
    store.put("a", b"one", 600)
    assert admin.keys() == [f"{NAMESPACE}a".encode()]


def test_a_full_one_refuses_what_is_new_and_gives_what_it_has(store: RedisStore, admin: redis.Redis) -> None:
    store.put("a", b"one", 600)
    admin.config_set("maxmemory-policy", "noeviction")
    admin.config_set("maxmemory", 1)
    try:
        with pytest.raises(redis.RedisError):
            store.put("b", b"two", 600)
        assert store.get("a") == b"one"
    finally:
        admin.config_set("maxmemory", 0)


def test_a_frozen_one_is_given_up_by_the_socket_itself(running: RedisServer) -> None:
    store = RedisStore(running.url)
    running.freeze()
    try:
        with pytest.raises(redis.TimeoutError):
            store.get("a")
    finally:
        running.thaw()
        store.close()


def test_the_cache_goes_on_without_it_and_finds_it_when_it_is_back() -> None:
    clock, failures = FakeClock(), Failures()
    with redis_server() as server:
        store = RedisStore(server.url, patience=LIMIT)
        shared = SharedCache(store, 600, observer=failures, clock=clock, patience=LIMIT)
        shared.put("a", b"one")
        found = None
        while found is None:
            found = shared.get("a")
        assert found == b"one"
        server.stop()
        for _ in range(FAILURES):
            assert shared.get("a") is None
            failures.wait()
        server.start()
        # Left alone for its pause, though it is back.
        assert shared.get("a") is None
        clock.pass_(PAUSE)
        assert shared.get("a") is None
        shared.put("a", b"two")
        while found != b"two":
            found = shared.get("a")
        shared.close()


@pytest.mark.parametrize("address", ["localhost", "http://localhost", "redis://localhost:port"])
def test_an_address_that_is_none_is_told_at_once(address: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        RedisStore(address)
