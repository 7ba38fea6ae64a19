"""What is to be remembered and where, decided before anything is started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from app.caching.keys import KeyMaker
from app.caching.results import Bounds, ResultCache
from app.caching.shared import SharedCache, Store
from app.inference.registry import ModelRegistry
from app.telemetry.observer import Observer


@dataclass(frozen=True, slots=True)
class CachePlan:
    """keys: by what requests are told apart. open: makes the cache of one process; nothing is shared over a fork."""

    keys: KeyMaker
    open: Callable[[], ResultCache]


def plan_cache(
    registry: ModelRegistry, around: Sequence[object], bounds: Bounds, redis_address: str, observer: Observer
) -> CachePlan:
    """The plan by these settings. around: as KeyMaker's. redis_address: empty where there are no other machines.

    Raises ValueError for an address that is none.
    """
    open_store = partial(_redis_store, redis_address) if redis_address else None
    if open_store:
        # An address that is none is told at the start, not at the first request; no connection is made.
        open_store().close()
    return CachePlan(KeyMaker(registry, around), partial(_open, bounds, open_store, observer))


def _open(bounds: Bounds, open_store: Callable[[], Store] | None, observer: Observer) -> ResultCache:
    shared = SharedCache(open_store(), bounds.seconds, observer=observer) if open_store else None
    return ResultCache(bounds, shared, observer)


def _redis_store(address: str) -> Store:
    # Whoever shares nothing need not load it.
    from app.caching.redis_store import RedisStore

    return RedisStore(address)
