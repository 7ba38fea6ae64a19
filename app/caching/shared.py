"""SharedCache: answers that other machines have made, from a store that may be slow, full or gone.

The store costs a request no more than PATIENCE: reading goes on in threads of its own and is given up in time, whatever
it is that hangs (a name server too, for which no socket's timeout counts); writing is waited for by nobody.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

from app.caching.breaker import Breaker, Seldom
from app.telemetry.observer import UNOBSERVED, Observer

PATIENCE: Final = 0.04
"""Seconds a request waits for the store. 0.05 are allowed; the rest is for waking up on a busy machine."""

LARGEST: Final = 1024 * 1024
"""Bytes of a value: at 1 Gbit/s it takes 9 ms to read; twenty-five of them would take longer than PATIENCE to come."""

READERS: Final = 4
WAITING_TO_BE_WRITTEN: Final = 16
"""Values; what comes while so many wait is not shared."""

FAILURES: Final = 3
PAUSE: Final = 5.0
"""Seconds for which a store that has failed FAILURES times in a row is left alone."""

LOG_PAUSE: Final = 60.0

_DIGEST_BYTES: Final = 32
_log = logging.getLogger(__name__)


class Store(Protocol):
    """Bytes by key, outside this process. Any exception means that it did not work."""

    def get(self, key: str) -> bytes | None:
        """The value, or None where there is none."""
        ...

    def put(self, key: str, value: bytes, seconds: int) -> None:
        """Keep ``value`` for so many seconds."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


class SharedCache:
    """A ``store``, bounded in what it costs. Nothing is started before its first use.

    seconds: a value is kept. patience: seconds to wait for one.
    """

    def __init__(
        self,
        store: Store,
        seconds: int,
        *,
        observer: Observer = UNOBSERVED,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._seconds = seconds
        self._observer = observer
        self._patience = patience
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="shared-cache-get")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="shared-cache-put")
        self._waiting = threading.BoundedSemaphore(WAITING_TO_BE_WRITTEN)
        # Each way has its own: a full store cannot be written to, but it can be read.
        self._reading = Breaker(failures=FAILURES, pause=PAUSE, clock=clock)
        self._writing = Breaker(failures=FAILURES, pause=PAUSE, clock=clock)
        self._telling = Seldom(LOG_PAUSE, clock=clock)
        self._closed = False

    def get(self, key: str) -> bytes | None:
        """The value of ``key``; None where there is none, it is not whole, or the store is not quick enough."""
        if self._closed or not self._reading.lets_through():
            return None
        try:
            sealed = self._read(key)
        except Exception as error:
            self._failed(self._reading, error)
            return None
        self._reading.record(succeeded=True)
        return None if sealed is None else _unsealed(key, sealed)

    def put(self, key: str, value: bytes) -> None:
        """Write ``value`` some time soon, if it is not too large and not too many wait."""
        if self._closed or len(value) > LARGEST or not self._writing.lets_through():
            return
        if self._waiting.acquire(blocking=False):
            # Somebody may be closing it just now.
            with contextlib.suppress(RuntimeError):
                self._writer.submit(self._write, key, value)

    def close(self, *, wait: bool = False) -> None:
        """Let go of the store; what waits to be written is dropped, unless ``wait``."""
        self._closed = True
        self._readers.shutdown(wait=wait, cancel_futures=not wait)
        self._writer.shutdown(wait=wait, cancel_futures=not wait)
        self._store.close()

    def _read(self, key: str) -> bytes | None:
        reading = self._readers.submit(self._store.get, key)
        try:
            return reading.result(self._patience)
        finally:
            # One that has not begun yet need not.
            reading.cancel()

    def _write(self, key: str, value: bytes) -> None:
        try:
            self._store.put(key, _sealed(key, value), self._seconds)
        except Exception as error:
            self._failed(self._writing, error)
        else:
            self._writing.record(succeeded=True)
        finally:
            self._waiting.release()

    def _failed(self, breaker: Breaker, error: Exception) -> None:
        breaker.record(succeeded=False)
        self._observer.shared_cache_failed()
        if self._telling.is_due():
            # Its words might hold the address and the password.
            _log.warning("The shared cache does not work; answers are made here instead: %s.", type(error).__name__)


def _sealed(key: str, value: bytes) -> bytes:
    return _digest(key, value) + value


def _unsealed(key: str, sealed: bytes) -> bytes | None:
    """The value, if it is whole and was stored under ``key``: a store that is out of step gives nobody another's."""
    value = sealed[_DIGEST_BYTES:]
    return value if sealed[:_DIGEST_BYTES] == _digest(key, value) else None


def _digest(key: str, value: bytes) -> bytes:
    digest = hashlib.sha256(key.encode())
    digest.update(value)
    return digest.digest()
