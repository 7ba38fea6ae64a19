"""Two machines, a real Redis between them, and what clients see: the same pictures, whoever made them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.redis_server import RedisServer, redis_server
from tests.server import Answer, Server, serve
from tests.unit.stubs import case, photo, png

FACE = case("face_one.png")
QUERY = "?size=128"
COMPLAINT = "The shared cache does not work"


def picture(number: int) -> bytes:
    """A different one for each number."""
    return png(np.roll(photo(96, 64), number, axis=1))


def convert(server: Server, data: bytes, query: str = QUERY) -> Answer:
    answer = server.post(f"/convert{query}", body=data, headers={"Content-Type": "application/octet-stream"})
    assert answer.status == 200, answer.text
    return answer


def how(answer: Answer) -> str:
    return answer.headers["x-cache"]


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def machines(redis: RedisServer) -> Iterator[tuple[Server, Server]]:
    environment = {"ANIMEBOOTH_CACHE_REDIS": redis.url}
    with serve(environment=environment) as one, serve(environment=environment) as other:
        yield one, other


def test_ten_at_once_are_one_conversion(machines: tuple[Server, Server]) -> None:
    data = picture(0)
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: convert(machines[0], data), range(10)))
    assert sorted(map(how, answers)) == ["hit"] * 9 + ["miss"]
    assert len({answer.body for answer in answers}) == 1


def test_what_one_machine_made_the_other_gives(machines: tuple[Server, Server], redis: RedisServer) -> None:
    made, given = shared_once(machines, redis)
    assert made.body == given.body
    for name in ("x-faces", "x-size", "x-style", "content-type", "content-disposition"):
        assert made.headers[name] == given.headers[name]
    assert re.fullmatch(r"cache;dur=[\d.]+, total;dur=[\d.]+", given.headers["server-timing"])


def shared_once(machines: tuple[Server, Server], redis: RedisServer) -> tuple[Answer, Answer]:
    """The first answer that comes from Redis: on a machine as busy as this one now and then is, some come too late."""
    for quality in range(1, 40):
        query = f"?size=128&quality={quality}"
        before = redis.keys()
        made = convert(machines[0], FACE, query)
        redis.wait_for_keys(before + 1)
        given = convert(machines[1], FACE, query)
        assert how(made) == "miss"
        if how(given) == "shared":
            return made, given
    raise AssertionError("never shared")


def test_while_redis_hangs_and_while_it_is_gone_every_answer_comes(
    machines: tuple[Server, Server], redis: RedisServer
) -> None:
    server, begun = machines[0], time.monotonic()
    complained = server.output.count(COMPLAINT)
    expected = [convert(server, picture(number)).body for number in range(1, 4)]
    redis.freeze()
    hanging = [convert(server, picture(number), "?size=128&quality=90").body for number in range(1, 9)]
    redis.thaw()
    redis.stop()
    gone = [convert(server, picture(number), "?size=128&quality=91").body for number in range(1, 9)]
    redis.start()
    assert hanging[:3] == gone[:3] == expected
    complaints = server.output.count(COMPLAINT)
    assert 1 <= complaints <= complained + 1 + (time.monotonic() - begun) // 60
