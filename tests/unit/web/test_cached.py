"""What a client is told of an answer that was remembered."""

from __future__ import annotations

import re

import pytest
from werkzeug.test import TestResponse

from app.caching.keys import KeyMaker
from app.caching.plan import CachePlan
from app.caching.results import Bounds, ResultCache
from app.engine import Engine
from app.telemetry.observer import UNOBSERVED
from tests.unit.stubs import REGISTRY, FixedDetector, started
from tests.unit.web.service import BROWSER, PHOTO, client, form, send


def engine(shared: dict[str, bytes] | None = None) -> Engine:
    class Shared:
        def get(self, key: str) -> bytes | None:
            return (shared or {}).get(key)

        def put(self, key: str, value: bytes) -> None:
            if shared is not None:
                shared[key] = value

        def close(self) -> None:
            """Nothing to let go."""

    def open_cache() -> ResultCache:
        return ResultCache(Bounds(2**20, 2**20, 600), Shared(), UNOBSERVED)

    return started(detector=FixedDetector(), cache=CachePlan(KeyMaker(REGISTRY, []), open_cache))


def told(response: TestResponse, *names: str) -> dict[str, str | None]:
    return {name: response.headers.get(name) for name in names}


def test_the_second_time_it_is_a_hit_and_all_else_is_as_before() -> None:
    service = client(engine())
    first, again = send(service, strength="50"), send(service, strength="50")
    assert (first.headers["X-Cache"], again.headers["X-Cache"]) == ("miss", "hit")
    assert first.data == again.data
    names = ("Content-Type", "Content-Disposition", "X-Style", "X-Faces", "X-Size", "X-Notice", "Vary")
    assert told(first, *names) == told(again, *names)


def test_an_answer_of_another_machine_is_called_shared() -> None:
    values: dict[str, bytes] = {}
    first = send(client(engine(values)))
    other = send(client(engine(values)))
    assert (first.headers["X-Cache"], other.headers["X-Cache"]) == ("miss", "shared")
    assert first.data == other.data


def test_without_a_cache_nothing_is_said_of_it() -> None:
    assert "X-Cache" not in send(client()).headers


def test_only_what_was_done_for_this_request_is_timed() -> None:
    service = client(engine())
    stages = [re.findall(r"(\w+);dur=", send(service, **wish).headers["Server-Timing"]) for wish in ({}, {}, STRONGER)]
    assert stages[0] == ["cache", "decode", "face", "infer", "blend", "encode", "total"]
    assert stages[1] == ["cache", "total"]
    assert stages[2] == ["cache", "blend", "encode", "total"]


STRONGER = {"strength": "60"}


def test_the_name_of_the_file_is_each_senders_own() -> None:
    service = client(engine())
    send(service, name="mine.png")
    again = send(service, name="yours.png")
    assert again.headers["X-Cache"] == "hit"
    assert "yours" in again.headers["Content-Disposition"]


@pytest.mark.parametrize(
    ("first", "second"), [("image/webp", "image/jpeg"), ("", "image/avif"), ("image/jpeg", BROWSER)]
)
def test_what_one_client_accepts_is_not_sent_to_another(first: str, second: str) -> None:
    service = client(engine())
    for accept in (first, second, first):
        response = service.post("/convert", data=form(), headers={"Accept": accept} if accept else {})
        expected = {"": "image/png", BROWSER: "text/html; charset=utf-8"}.get(accept, accept)
        assert response.content_type == expected
        assert "Accept" in response.vary


def test_a_page_with_the_picture_is_told_too() -> None:
    service = client(engine())
    answers = [service.post("/convert", data=form(), headers={"Accept": BROWSER}) for _ in range(2)]
    assert [answer.headers["X-Cache"] for answer in answers] == ["miss", "hit"]
    assert answers[0].data == answers[1].data


@pytest.mark.parametrize("headers", [{}, {"Accept": BROWSER}])
def test_nobody_on_the_way_may_keep_an_answer(headers: dict[str, str]) -> None:
    service = client(engine())
    for _ in range(2):
        response = service.post("/convert", data=form(PHOTO), headers=headers)
        assert response.headers["Cache-Control"] == "private, no-store"
