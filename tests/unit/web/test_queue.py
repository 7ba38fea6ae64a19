"""GET /queue: how full it is, and where one's own picture is; what a client is told that is turned away or has gone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from flask.testing import FlaskClient

from app.admission.pace import FIRST_GUESS
from tests.unit.stubs import Negative, Workshop, photo, png, started
from tests.unit.web.service import application, form, problem, send

FROZEN = 100.0
BUSY = png(photo(400, 300))


@contextmanager
def busy(**changed: object) -> Iterator[FlaskClient]:
    """A service with one lane, taken by somebody's picture until the block ends. Its clock of waiting stands still."""
    inside, let_go = threading.Event(), threading.Event()

    class Waiting(Negative):
        def run(self, tensor: object) -> object:  # type: ignore[override]
            inside.set()
            assert let_go.wait(30)
            return tensor

    engine = started(Workshop(sessions={"hayao": Waiting()}), lanes=1, clock=lambda: FROZEN, **changed)
    service = application(engine, max_requests=2)
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(send, service.test_client(), BUSY, style="hayao")
        try:
            assert inside.wait(30)
            yield service.test_client()
        finally:
            let_go.set()
        assert working.result(30).status_code == 200


def test_an_empty_service_says_so() -> None:
    answer = application().test_client().get("/queue")
    assert answer.get_json() == {"waiting": 0, "working": 0, "seconds": 0.0, "request": None}
    assert answer.headers["Cache-Control"] == "no-store"


def test_how_many_are_there_is_told_and_for_how_long() -> None:
    with busy() as service:
        told = service.get("/queue").get_json()
    assert (told["waiting"], told["working"]) == (0, 1)
    assert told["seconds"] == pytest.approx((400 * 304 + 30_000 + 0.08 * 400 * 300) * FIRST_GUESS, abs=0.001)


def test_one_is_told_where_ones_own_picture_is() -> None:
    with ThreadPoolExecutor(1) as pool, busy() as service:
        headers = {"X-Request-Id": "mine"}
        waiting = pool.submit(service.post, "/convert", data=form(style="cute"), headers=headers)
        while (told := service.get("/queue?id=mine").get_json())["request"] is None:
            assert not waiting.done()
        assert told["request"].keys() == {"state", "before", "seconds"}
        assert told["request"]["state"] == "waiting"
        assert told["request"]["before"] == 1
        assert told["request"]["seconds"] > told["seconds"] / 2
    assert waiting.result(30).headers["X-Request-Id"] == "mine"


def test_a_picture_that_is_not_there_has_no_place() -> None:
    with busy() as service:
        assert service.get("/queue?id=another").get_json()["request"] is None


@pytest.mark.parametrize("id", ["a b", "x" * 65, "../etc", "%00"])
def test_what_can_be_nobodys_id_is_refused(id: str) -> None:
    answer = application().test_client().get(f"/queue?id={id}")
    assert answer.status_code == 400
    assert problem(answer)["option"] == "id"


def test_an_empty_id_asks_for_nobody() -> None:
    assert application().test_client().get("/queue?id=").get_json()["request"] is None


def test_where_all_places_are_taken_one_is_told_how_long_those_inside_will_take() -> None:
    with ThreadPoolExecutor(1) as pool, busy() as service:
        waiting = pool.submit(service.post, "/convert", data=form(png(photo(760, 760)), style="cute"))
        while service.get("/queue").get_json()["waiting"] < 1:
            assert not waiting.done()
        answer = send(service)
        assert answer.status_code == 503
        assert problem(answer)["code"] == "overloaded"
        assert answer.headers["Retry-After"] == "1"
    assert waiting.result(30).status_code == 200


def test_a_client_that_has_gone_is_not_worked_for() -> None:
    service = application().test_client()
    answer = service.post("/convert", data=form(), environ_overrides={"animebooth.gone": lambda: True})
    assert answer.status_code == 499
    assert problem(answer)["code"] == "client-gone"
