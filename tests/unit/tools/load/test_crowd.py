"""What the people of a load test send, and how they come."""

from __future__ import annotations

import asyncio
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tools.load import loops
from tools.load.client import Reply
from tools.load.gallery import MIXES, SUBJECTS, VARIETY, photo
from tools.load.loops import closed_loop, open_loop
from tools.load.traffic import REPEATS, Wish, wishes

SMALL = MIXES["small"]


def test_a_photo_is_the_same_whenever_it_is_made() -> None:
    assert photo(7, SMALL) == photo(7, SMALL)


def test_no_two_photos_have_the_same_pixels() -> None:
    pixels = {np.asarray(Image.open(BytesIO(photo(number, SMALL)))).tobytes() for number in range(12)}
    assert len(pixels) == 12


def test_photos_of_two_stages_are_the_same_work_and_not_the_same_picture() -> None:
    for number in range(1, 4):
        one, other = (np.asarray(Image.open(BytesIO(photo(n, SMALL))), int) for n in (number, number + VARIETY))
        assert one.shape == other.shape
        assert (one != other).any()
        assert abs(one[64:] - other[64:]).max() == 0


def test_photos_have_the_sizes_of_their_mix() -> None:
    sizes = {Image.open(BytesIO(photo(number, MIXES["phones"]))).size for number in range(12)}
    assert sizes <= {(kind.width, kind.height) for kind in MIXES["phones"]}
    assert len(sizes) > 1


def test_selfies_are_the_most_of_them() -> None:
    assert max(SUBJECTS, key=lambda name: SUBJECTS[name]) == "astronaut"


def drawn(count: int, **arguments: float) -> list[Wish]:
    next_wish = wishes(3, ("cute", "hayao"), **arguments)  # type: ignore[arg-type]
    return [next_wish() for _ in range(count)]


def test_as_many_wishes_as_in_real_life_have_been_had_before() -> None:
    many = drawn(4000)
    assert sum(wish.repeated for wish in many) / len(many) == pytest.approx(REPEATS, abs=0.02)
    seen: set[tuple[object, ...]] = set()
    for wish in many:
        assert wish.repeated == ((wish.photo, wish.query) in seen)
        seen.add((wish.photo, wish.query))


def test_wishes_are_numbered_on_and_use_every_style() -> None:
    many = drawn(50, first_photo=100, repeats=0.0)
    assert [wish.photo for wish in many] == list(range(101, 151))
    assert {dict(wish.query)["style"] for wish in many} == {"cute", "hayao"}


def test_a_closed_loop_has_so_many_at_a_time_and_no_more() -> None:
    inside, most = 0, 0

    async def ask() -> Reply:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        return Reply(200, 0.0, 0.01)

    replies, _ = asyncio.run(closed_loop(ask, clients=5, requests=12))
    assert most == 5
    assert len(replies) == 12


def test_who_is_turned_away_in_a_closed_loop_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "PATIENCE", 0.0)
    away = Reply(503, 0.0, 0.0, code="overloaded", headers={"retry-after": "1"})
    answers = iter([away, away, *[Reply(200, 0.0, 0.0)] * 6])

    async def ask() -> Reply:
        return next(answers)

    replies, _ = asyncio.run(closed_loop(ask, clients=2, requests=6))
    assert [reply.status for reply in replies].count(200) == 6
    assert len(replies) == 8


def test_an_open_loop_does_not_wait_for_those_before() -> None:
    """Nobody is answered before the last has come."""
    came = 0

    async def run() -> tuple[list[Reply], float]:
        everybody_is_there = asyncio.Event()

        async def ask() -> Reply:
            nonlocal came
            came += 1
            await everybody_is_there.wait()
            return Reply(200, 0.0, 0.0)

        async def let_go() -> None:
            await asyncio.sleep(0.5)
            everybody_is_there.set()

        results = await asyncio.gather(open_loop(ask, rate=400, seconds=0.25, seed=1), let_go())
        return results[0]

    replies, _ = asyncio.run(run())
    assert len(replies) == came
    assert 60 < came < 150
