"""Everything at once for a long time: ``python -m tools.soak --minutes 30``.

Starts the service with a Redis of its own on free ports of this machine, and lets come: visitors with the case book
and photos, in every style and format; crowds of ten with the same photo; visitors with wrong files and options; slow
lorises, aborted uploads, nonsense; meanwhile the worker is killed (kill -9) every five minutes, and Redis is stopped
or frozen every two. Each answer is compared with the one that the same order got from a service of its own, without
cache, asked for one thing at a time.

A failure is: a 500, a picture or an error that is not the expected one, no answer at all (unless the connection was
cut by the kill itself), a traceback in the service's log, a new worker that does not come, memory that has grown by 5 %
over that of the first five minutes. With kills, marks of memory are of workers of the same age; --kill-every above the
length shows what one worker comes to. soak.json, rewritten every few seconds, says how it goes. Exit code 1 where any
is.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Final

from app.config import PROJECT_ROOT
from tests.redis_server import redis_server
from tests.server import serve
from tools.command import FAILED, run_command
from tools.load.target import started
from tools.soaking.ledger import Ledger
from tools.soaking.orders import Expected, Order, all_orders, learnt
from tools.soaking.soak import Soak

MINUTES: Final = 30.0
KILL_SECONDS: Final = 300.0
"""Between two kills."""
REDIS_SECONDS: Final = 120.0

# Little is remembered, and not for long, so that the same orders are worked on again and again.
_SETTINGS: Final = {
    "ANIMEBOOTH_CACHE_MIB": "12",
    "ANIMEBOOTH_CACHE_DRAWINGS_MIB": "12",
    "ANIMEBOOTH_CACHE_SECONDS": "15",
}


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
