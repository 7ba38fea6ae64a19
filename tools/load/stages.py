"""The stages of a load test: each plays people, so many requests or seconds, and sums up what they saw."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tools.load.client import Reply, convert, visitors
from tools.load.gallery import VARIETY, Kind, photo
from tools.load.loops import Ask, closed_loop, open_loop
from tools.load.summary import Summary, summarise
from tools.load.target import Target
from tools.load.traffic import REPEATS, Wish, wishes
from tools.load.watch import memory_watched

Play: TypeAlias = Callable[[Ask], Awaitable[tuple[list[Reply], float]]]


@dataclass(frozen=True, slots=True)
class Crowd:
    """What people send. kinds: sizes. repeats: the share of photos that have been sent before."""

    kinds: Sequence[Kind]
    repeats: float = REPEATS
    seed: int = 1


class Album:
    """Photos by their number, made once."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self._kinds = kinds
        self._made: dict[int, bytes] = {}

    def prepare(self, numbers: range) -> None:
        """Make what is not made yet."""
        for number in numbers:
            self[number]

    def __getitem__(self, number: int) -> bytes:
        if number not in self._made:
            self._made[number] = photo(number, self._kinds)
        return self._made[number]


class Stages:
    """Plays stages against one service.

    Each sends photos like those of the others, in the same order, in the same styles and with the same repeats, so that
    their throughputs can be compared; but no two send the same photo, which the service would remember.

    ``played``: stages before these.
    """

    def __init__(self, target: Target, crowd: Crowd, album: Album, *, played: int = 0) -> None:
        self._target = target
        self._crowd = crowd
        self._album = album
        self._played = played

    async def closed(self, clients: int, requests: int) -> Summary:
        """``clients`` people who each send the next photo once the last is answered, ``requests`` in all."""
        return await self._play(
            f"{clients} client{'s' if clients > 1 else ''}", requests, lambda ask: closed_loop(ask, clients, requests)
        )

    async def open(self, rate: float, seconds: float) -> Summary:
        """People who come by chance, ``rate`` a second, whatever becomes of those before them."""
        many = int(rate * seconds * (1 - self._crowd.repeats))
        return await self._play(f"{rate:.1f} a second", many, lambda ask: open_loop(ask, rate, seconds))

    async def same(self, times: int) -> Summary:
        """One person who sends one photo again and again: after the first time, what a hit takes."""
        wish = Wish(self._played * VARIETY + 1, (("style", self._target.styles[0]),))
        return await self._play("the same photo", 1, lambda ask: _repeated(ask, times), lambda: wish)

    async def _play(self, name: str, photos: int, play: Play, next_wish: Callable[[], Wish] | None = None) -> Summary:
        first = self._played * VARIETY
        self._played += 1
        self._album.prepare(range(first + 1, first + photos + 1))
        source = next_wish or wishes(
            self._crowd.seed, self._target.styles, first_photo=first, repeats=self._crowd.repeats
        )
        async with visitors() as session, memory_watched(self._target.processes) as memory:

            async def ask() -> Reply:
                wish = source()
                return await convert(session, self._target.url, self._album[wish.photo], dict(wish.query), {})

            replies, seconds = await play(ask)
        return summarise(name, replies, seconds, memory)


async def _repeated(ask: Ask, times: int) -> tuple[list[Reply], float]:
    replies = [await ask() for _ in range(times)]
    return replies, sum(reply.seconds for reply in replies)
