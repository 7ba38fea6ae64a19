"""All that goes on beside one another during a soak."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final

import aiohttp
from yarl import URL

from tests.redis_server import RedisServer
from tests.server import Server
from tools.load.client import convert, visitors
from tools.load.watch import resident_mib
from tools.soaking.hostile import ACTS
from tools.soaking.ledger import Ledger
from tools.soaking.orders import Expected, Order
from tools.soaking.upheaval import kill_worker, trouble_redis

REDIS_TROUBLE_SECONDS: Final = 30.0
VISITORS: Final = 4
HOSTILE_EVERY: Final = 1.0
CROWD_EVERY: Final = 20.0
CROWD: Final = 10
PAGES: Final = ("/", "/healthz", "/styles", "/docs", "/openapi.json", "/no-such-page")
SAVE_SECONDS: Final = 5.0
MARK_EVERY: Final = 300.0
"""Seconds between two marks of memory."""
MOST_PAUSE: Final = 0.3
"""Seconds between a visitor's orders."""

_ALLOWED_OF_THE_HOSTILE: Final = frozenset({0, 200, 400, 408, 413, 415, 422, 501, 503})
"""415 too: an upload of a few bytes is whole after as many drips, and is answered for what it is."""


class Soak:
    """What goes on beside one another, until the time is over."""

    def __init__(
        self, server: Server, redis: RedisServer, orders: list[Order], expected: dict[str, Expected], ledger: Ledger
    ) -> None:
        self._server = server
        self._redis = redis
        self._orders = orders
        self._expected = expected
        self._ledger = ledger
        self._chance = random.Random(1)  # noqa: S311
        self._acts: set[asyncio.Task[None]] = set()

    async def run(self, kill_seconds: float, redis_seconds: float, save: Callable[[], None]) -> None:
        """Returns when all who came have gone."""
        async with visitors() as session:
            self._session = session
            await asyncio.gather(
                *(self._visit() for _ in range(VISITORS)),
                self._every(CROWD_EVERY, self._crowd),
                self._every(HOSTILE_EVERY, self._let_hostile_in),
                self._every(HOSTILE_EVERY, self._look_at_page),
                self._every(redis_seconds, self._trouble_redis),
                # Before the kills, which may be due at the same moment.
                self._every(MARK_EVERY, self._mark),
                self._every(kill_seconds, self._kill),
                self._every(SAVE_SECONDS, self._weigh_and_save(save)),
            )
            await asyncio.gather(*self._acts)

    @property
    def _goes_on(self) -> bool:
        return self._ledger.elapsed < self._ledger.length

    async def _every(self, seconds: float, act: Callable[[], Awaitable[None]]) -> None:
        while self._ledger.elapsed + seconds < self._ledger.length:
            await asyncio.sleep(seconds)
            await act()

    async def _visit(self) -> None:
        while self._goes_on:
            await self._order(self._chance.choice(self._orders))
            await asyncio.sleep(self._chance.uniform(0, MOST_PAUSE))

    async def _crowd(self) -> None:
        order = self._chance.choice(self._orders)
        await asyncio.gather(*(self._order(order) for _ in range(CROWD)))

    async def _order(self, order: Order) -> None:
        reply = await convert(self._session, URL(self._server.url), order.photo, dict(order.query), {})
        self._ledger.answered(order, self._expected[order.name], reply)

    async def _let_hostile_in(self) -> None:
        task = asyncio.create_task(self._be_hostile())
        self._acts.add(task)
        task.add_done_callback(self._acts.discard)

    async def _be_hostile(self) -> None:
        act, order = self._chance.choice(ACTS), self._chance.choice(self._orders)
        try:
            status = await act(self._server.port, order.photo or b"nothing", self._chance)
        except OSError:
            status = 0
        fine = status in _ALLOWED_OF_THE_HOSTILE
        self._ledger.visited(f"hostile: {act.__name__}", str(status or "no answer"), fine=fine)

    async def _look_at_page(self) -> None:
        page = self._chance.choice(PAGES)
        due = 404 if page == PAGES[-1] else 200
        start = time.monotonic()
        try:
            async with self._session.get(f"{self._server.url}{page}") as answer:
                await answer.read()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            cut = self._ledger.was_cut(start, time.monotonic())
            self._ledger.visited("pages", "cut by the kill" if cut else type(error).__name__, fine=cut)
        else:
            self._ledger.visited("pages", str(answer.status), fine=answer.status == due)

    async def _trouble_redis(self) -> None:
        freeze = self._chance.random() < 0.5
        await trouble_redis(self._redis, self._ledger, REDIS_TROUBLE_SECONDS, freeze=freeze)

    async def _mark(self) -> None:
        self._ledger.mark()

    async def _kill(self) -> None:
        await kill_worker(self._server, self._ledger)

    def _weigh_and_save(self, save: Callable[[], None]) -> Callable[[], Awaitable[None]]:
        async def weigh_and_save() -> None:
            self._ledger.weigh(sum(map(resident_mib, [self._server.process.pid, *self._server.workers()])))
            save()

        return weigh_and_save
