"""Two ways of playing many people: so many at a time, or so many a second whatever becomes of them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from tools.load.client import Reply

PATIENCE: Final = 1.0
"""Seconds before who was turned away sends again."""

Ask: TypeAlias = Callable[[], Awaitable[Reply]]
"""Sends the next request and waits for its answer."""


async def closed_loop(ask: Ask, clients: int, requests: int) -> tuple[list[Reply], float]:
    """``clients`` people who each send the next photo as soon as the last is answered, until ``requests`` are sent.

    A number, not a time: what is asked for again has been asked for before, so that who gets further has less to do for
    each. Who is turned away waits a second, and is not of that number. Returns the replies and how long it took until
    the last one was there.
    """
    replies: list[Reply] = []
    left = requests
    start = time.monotonic()

    async def person() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            reply = await ask()
            replies.append(reply)
            if reply.refused:
                left += 1
                await asyncio.sleep(PATIENCE)

    await asyncio.gather(*(person() for _ in range(clients)))
    return replies, time.monotonic() - start


async def open_loop(ask: Ask, rate: float, seconds: float, *, seed: int = 0) -> tuple[list[Reply], float]:
    """People who come by chance, ``rate`` a second on average (a Poisson process), and do not wait for one another.

    Returns the replies and how long it took until the last one was there.
    """
    chance = random.Random(seed)  # noqa: S311
    start = due = time.monotonic()
    asked = []
    while (due := due + chance.expovariate(rate)) - start < seconds:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        asked.append(asyncio.create_task(_as_coroutine(ask)))
    replies = await asyncio.gather(*asked)
    return list(replies), time.monotonic() - start


async def _as_coroutine(ask: Ask) -> Reply:
    return await ask()
