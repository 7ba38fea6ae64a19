"""Pulling plugs: the worker killed, Redis stopped and frozen."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import aiohttp

from tests.redis_server import RedisServer
from tests.server import Server
from tools.soaking.ledger import Ledger

READY_LIMIT = 120.0
"""Seconds within which a new worker must be ready."""


async def kill_worker(server: Server, ledger: Ledger) -> None:
    """kill -9, and wait until the next one is ready."""
    workers = server.workers()
    ledger.note(f"worker {workers[0]} killed")
    ledger.kills.append(time.monotonic())
    os.kill(workers[0], signal.SIGKILL)
    begun = time.monotonic()
    while not await _is_ready(server, workers):
        if time.monotonic() - begun > READY_LIMIT:
            ledger.fail(f"no new worker was ready within {READY_LIMIT:g} s")
            return
        await asyncio.sleep(0.1)
    ledger.note(f"a new worker is ready after {time.monotonic() - begun:.1f} s")


async def _is_ready(server: Server, before: list[int]) -> bool:
    now = server.workers()
    if not now or set(now) & set(before[:1]):
        return False
    try:
        async with aiohttp.ClientSession() as session, session.get(f"{server.url}/readyz") as answer:
            return answer.status == 200
    except (aiohttp.ClientError, OSError):
        return False


async def trouble_redis(redis: RedisServer, ledger: Ledger, seconds: float, *, freeze: bool) -> None:
    """Redis gone, or there and silent, for so long."""
    ledger.note("Redis frozen" if freeze else "Redis stopped")
    if freeze:
        redis.freeze()
    else:
        redis.stop()
    try:
        await asyncio.sleep(seconds)
    finally:
        if freeze:
            redis.thaw()
        else:
            # Starting waits for Redis to say that it is ready.
            await asyncio.to_thread(redis.start)
    ledger.note("Redis is back")
