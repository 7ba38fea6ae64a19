"""While others are served first, the page says how many and how long; then it draws."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.e2e.booth import pair, try_sample
from tests.e2e.conftest import OpenPage

pytestmark = pytest.mark.browser

QUEUE = re.compile(r"/queue\?id=")
FIRST = {"waiting": 5, "working": 3, "seconds": 4.0, "request": {"state": "waiting", "before": 3, "seconds": 2.2}}
SECOND = FIRST | {"request": {"state": "waiting", "before": 1, "seconds": 0.4}}
TURN = FIRST | {"request": {"state": "working", "before": 0, "seconds": 0.2}}
GONE = FIRST | {"request": None}


HOLD = """() => {
  const listen = XMLHttpRequest.prototype.addEventListener;
  const held = new Promise((letGo) => { window.letGo = letGo; });
  XMLHttpRequest.prototype.addEventListener = function (kind, listener, options) {
    const late = (event) => held.then(() => listener.call(this, event));
    return listen.call(this, kind, kind.startsWith("load") ? late : listener, options);
  };
}"""


def hold(page: Page) -> None:
    """From now on no answer to a photo reaches the page until ``let_go``. (A route would hold the photo itself.)"""
    page.evaluate(HOLD)


def let_go(page: Page) -> None:
    """The answer arrives, and nothing is wrong with it."""
    page.evaluate("window.letGo()")
    pair(page)


def queue(page: Page, *answers: dict[str, Any] | int) -> list[str]:
    """What /queue says each time it is asked, the last for ever: a document, or a status. Gives the ids it is asked."""
    ids: list[str] = []
    left: Iterator[dict[str, Any] | int] = iter(answers)

    def answer(route: Route) -> None:
        ids.append(route.request.url.partition("id=")[2])
        told = next(left, answers[-1])
        route.fulfill(status=told) if isinstance(told, int) else route.fulfill(json=told)

    page.route(QUEUE, answer)
    return ids


@pytest.mark.parametrize(
    ("locale", "words"),
    [("en", "3 before you, about 2 s"), ("zh", "前面还有 3 位，约 2 秒"), ("ja", "あと 3 人、約 2 秒")],
)
def test_who_waits_is_told_how_many_come_first_and_for_how_long(open_page: OpenPage, locale: str, words: str) -> None:
    page = open_page(locale=locale)
    hold(page)
    queue(page, FIRST)
    page.locator("#samples button").first.click()
    expect(page.locator("#work-usual")).to_have_text(words)
    let_go(page)


def test_it_follows_the_queue_and_then_says_that_it_draws(page: Page) -> None:
    hold(page)
    queue(page, FIRST, SECOND, TURN)
    try_sample(page)
    expect(page.locator("#work-step")).to_have_text("Waiting")
    expect(page.locator("#work-usual")).to_have_text("1 before you, about 1 s")
    expect(page.locator("#work-step")).to_have_text("Drawing")
    expect(page.locator("#work-usual")).to_have_text("")
    let_go(page)


def test_the_wait_is_announced_once(page: Page) -> None:
    hold(page)
    queue(page, FIRST, SECOND)
    try_sample(page)
    expect(page.locator("#work-usual")).to_have_text("1 before you, about 1 s")
    expect(page.get_by_role("status")).to_have_text("3 before you, about 2 s")
    let_go(page)


def test_it_asks_by_the_name_that_the_photo_was_sent_with(page: Page) -> None:
    hold(page)
    ids = queue(page, FIRST)
    with page.expect_request("**/convert") as photo:
        try_sample(page)
    expect(page.locator("#work-step")).to_have_text("Waiting")
    assert re.fullmatch("[0-9a-f]{32}", ids[0])
    assert set(ids) == {photo.value.headers["x-request-id"]}
    let_go(page)


@pytest.mark.parametrize("answer", [GONE, 404, 503], ids=["not here", "no such route", "busy"])
def test_where_the_queue_has_nothing_to_say_it_draws(page: Page, answer: dict[str, Any] | int) -> None:
    hold(page)
    queue(page, answer)
    with page.expect_request(QUEUE):
        try_sample(page)
    expect(page.locator("#work-step")).to_have_text("Drawing")
    let_go(page)


def test_nobody_asks_any_more_once_the_picture_is_there(page: Page) -> None:
    hold(page)
    queue(page, FIRST)
    with page.expect_request(QUEUE):
        try_sample(page)
    let_go(page)
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    page.wait_for_timeout(1500)
    assert asked == []


def test_the_service_itself_is_asked_and_has_an_answer(page: Page) -> None:
    hold(page)
    with page.expect_response(QUEUE) as response:
        try_sample(page)
    assert response.value.json().keys() == FIRST.keys()
    let_go(page)
