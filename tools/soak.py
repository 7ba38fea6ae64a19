"""Everything at once for a long time: ``python -m tools.soak --minutes 30``.

Starts the service with a Redis of its own on free ports of this machine, and lets come: visitors with the case book
and photos, in every style and format; crowds of ten with the same photo; visitors with wrong files and options; slow
lorises, aborted uploads, nonsense; meanwhile the worker is killed (kill -9) every five minutes, and Redis is stopped
or frozen every two. Each answer is compared with the one that the same order got from a service of its own, without
cache, asked for one thing at a time.

A failure is: a 500, a picture or an error that is not the expected one, no answer at all (unless the connection was
cut by the kill itself), a traceback in the service's log, a new worker that does not come, memory that has grown by 5 %
over that of the first five minutes. soak.json, rewritten every few seconds, says how it goes. Exit code 1 where any is.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import aiohttp
from yarl import URL

from app.config import PROJECT_ROOT
from tests.redis_server import RedisServer, redis_server
from tests.server import Server, serve
from tools.command import FAILED, run_command
from tools.load.client import convert, visitors
from tools.load.target import started
from tools.load.watch import resident_mib
from tools.soaking.hostile import ACTS
from tools.soaking.ledger import Ledger
from tools.soaking.orders import Expected, Order, all_orders, learnt
from tools.soaking.upheaval import kill_worker, trouble_redis

MINUTES: Final = 30.0
KILL_SECONDS: Final = 300.0
"""Between two kills, and between two marks of memory."""
REDIS_SECONDS: Final = 120.0
REDIS_TROUBLE_SECONDS: Final = 30.0
VISITORS: Final = 4
HOSTILE_EVERY: Final = 1.0
CROWD_EVERY: Final = 20.0
CROWD: Final = 10
PAGES: Final = ("/", "/healthz", "/styles", "/docs", "/openapi.json", "/no-such-page")
SAVE_SECONDS: Final = 5.0

# Little is remembered, and not for long, so that the same orders are worked on again and again.
_SETTINGS: Final = {
    "ANIMEBOOTH_CACHE_MIB": "12",
    "ANIMEBOOTH_CACHE_DRAWINGS_MIB": "12",
    "ANIMEBOOTH_CACHE_SECONDS": "15",
}
_ALLOWED_OF_THE_HOSTILE: Final = frozenset({0, 200, 400, 408, 413, 422, 501, 503})


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
                self._every(kill_seconds, self._mark_and_kill),
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
            await asyncio.sleep(self._chance.uniform(0, 0.3))

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
        try:
            async with self._session.get(f"{self._server.url}{page}") as answer:
                await answer.read()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            recent = any(self._ledger.elapsed - (kill - self._ledger.start) < 5 for kill in self._ledger.kills)
            self._ledger.visited("pages", type(error).__name__, fine=recent)
        else:
            self._ledger.visited("pages", str(answer.status), fine=answer.status == due)

    async def _trouble_redis(self) -> None:
        freeze = self._chance.random() < 0.5
        await trouble_redis(self._redis, self._ledger, REDIS_TROUBLE_SECONDS, freeze=freeze)

    async def _mark_and_kill(self) -> None:
        self._ledger.mark()
        await kill_worker(self._server, self._ledger)

    def _weigh_and_save(self, save: Callable[[], None]) -> Callable[[], Awaitable[None]]:
        async def weigh_and_save() -> None:
            self._ledger.weigh(sum(map(resident_mib, [self._server.process.pid, *self._server.workers()])))
            save()

        return weigh_and_save


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    options = _parser().parse_args(arguments)
    orders = all_orders()
    print(f"learning the answers to {len(orders)} orders", flush=True)
    with started({"ANIMEBOOTH_CACHE_MIB": "0"}) as alone:
        expected = asyncio.run(learnt(alone, orders))
    ledger = _soak(options, orders, expected)
    for verdict, holds in ledger.verdicts().items():
        print(f"{'holds' if holds else 'FAILS'}: {verdict}")
    for failure in ledger.failures:
        print(f"    {failure}")
    return 0 if all(ledger.verdicts().values()) else FAILED


def _soak(options: argparse.Namespace, orders: list[Order], expected: dict[str, Expected]) -> Ledger:
    report: Path = options.out / "soak.json"
    with redis_server() as redis, serve(environment={**_SETTINGS, "ANIMEBOOTH_CACHE_REDIS": redis.url}) as server:
        ledger = Ledger(options.minutes * 60)
        print(f"{options.minutes:g} minutes at {server.url}; {report} tells how it goes", flush=True)
        soak = Soak(server, redis, orders, expected, ledger)
        asyncio.run(soak.run(options.kill_every, options.redis_every, lambda: ledger.write(report)))
        ledger.mark()
        status = server.stop()
    if status:
        ledger.fail(f"the service ended with status {status}")
    if traces := server.output.count("Traceback (most recent call last)"):
        ledger.fail(f"{traces} tracebacks in the service's log")
    (options.out / "service.log").write_text(server.output, encoding="utf-8")
    ledger.write(report)
    return ledger


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long (default: %(default)s)")
    parser.add_argument(
        "--kill-every", type=float, default=KILL_SECONDS, metavar="SECONDS", help="default: %(default)s"
    )
    parser.add_argument(
        "--redis-every", type=float, default=REDIS_SECONDS, metavar="SECONDS", help="default: %(default)s"
    )
    parser.add_argument(
        "--out", type=Path, default=PROJECT_ROOT / "out" / "soak", metavar="DIR", help="where soak.json goes"
    )
    return parser


if __name__ == "__main__":
    run_command(main)
