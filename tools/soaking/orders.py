"""What a visitor may order, and what the answer to it must be."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tests.casebook import CASES
from tools.load.client import Reply, convert, visitors
from tools.load.gallery import MIXES, photo
from tools.load.target import Target

OPTIONS: Final[tuple[dict[str, str], ...]] = (
    {"style": "hayao", "face": "off", "size": "256"},
    {"format": "webp", "strength": "50"},
    {"format": "avif", "size": "512"},
    {"format": "jpeg", "quality": "70", "size": "640"},
    {"face": "only", "size": "512"},
    {"style": "hayao", "size": "1024"},
    {"size": "original"},
    {"strength": "0", "format": "png"},
)
WRONG_OPTIONS: Final[tuple[dict[str, str], ...]] = ({"style": "none"}, {"size": "3"}, {"colour": "blue"})
_PHOTOS: Final = 24
_FIRST_PHOTO: Final = 5_000_000
_SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Order:
    """One upload with its options."""

    name: str
    photo: bytes
    query: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Expected:
    """The one right answer. digest: SHA-256 of a picture; code: of an error. The other is empty."""

    status: int
    digest: str
    code: str

    @classmethod
    def of(cls, reply: Reply) -> Expected:
        """What ``reply`` is, but for what may differ from one answer to the next."""
        return cls(reply.status, reply.digest if reply.status == 200 else "", reply.code)


def all_orders() -> list[Order]:
    """The case book, small photos with every kind of option, and what is no order at all."""
    return [*_case_book(), *_photos(), *(Order("nothing", b"", (("size", "256"),)), Order("zeros", bytes(5000)))]


def _case_book() -> Iterator[Order]:
    chance = random.Random(_SEED)  # noqa: S311
    for case in CASES:
        yield Order(case.name, case.data)
        query = chance.choice((*OPTIONS[:4], *WRONG_OPTIONS))
        yield Order(f"{case.name} {query}", case.data, tuple(query.items()))


def _photos() -> Iterator[Order]:
    for number in range(_PHOTOS):
        query = OPTIONS[number % len(OPTIONS)]
        kinds = MIXES["phones" if number % 3 == 0 and "original" not in query.values() else "small"]
        yield Order(f"photo {number} {query}", photo(_FIRST_PHOTO + number, kinds), tuple(query.items()))


async def learnt(target: Target, orders: Sequence[Order]) -> dict[str, Expected]:
    """The right answer to each order by its name: what ``target``, asked for one at a time, says.

    Raises RuntimeError where it says nothing, or fails.
    """
    expected = {}
    async with visitors() as session:
        for order in orders:
            reply = await convert(session, target.url, order.photo, dict(order.query), {})
            if reply.status == 0 or reply.status >= 500:
                raise RuntimeError(f"{order.name}: {reply.status} {reply.code} {reply.error}")
            expected[order.name] = Expected.of(reply)
            await asyncio.sleep(0)
    return expected
