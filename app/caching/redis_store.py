"""RedisStore: the store of all machines, by redis-py. Imported only where one is set: it takes 10 MB and 0.1 s."""

from __future__ import annotations

from typing import Final, cast

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.caching.shared import PATIENCE

NAMESPACE: Final = "animebooth:answer:"
"""Before every key, since a Redis may serve others too."""

WRITING_SECONDS: Final = 1.0
"""Nobody waits for a write; a slow line may take its time, a dead one not for ever."""


class RedisStore:
    """A Redis at ``address``, such as ``redis://:PASSWORD@HOST:6379/0``; no connection is made before its first use.

    patience: seconds for one read. Raises ValueError for an address that redis-py does not understand.
    """

    def __init__(self, address: str, *, patience: float = PATIENCE) -> None:
        self._reader = _client(address, patience)
        self._writer = _client(address, WRITING_SECONDS)

    def get(self, key: str) -> bytes | None:
        """As ``Store.get``. Raises redis.RedisError."""
        return cast("bytes | None", self._reader.get(NAMESPACE + key))

    def put(self, key: str, value: bytes, seconds: int) -> None:
        """As ``Store.put``. Raises redis.RedisError."""
        self._writer.set(NAMESPACE + key, value, ex=seconds)

    def close(self) -> None:
        """Let go of the connections."""
        self._reader.close()
        self._writer.close()


def _client(address: str, seconds: float) -> Redis:
    # No second tries: redis-py's own would wait for seconds between them.
    once = Retry(NoBackoff(), 0)
    return Redis.from_url(address, socket_timeout=seconds, socket_connect_timeout=seconds, retry=once)
