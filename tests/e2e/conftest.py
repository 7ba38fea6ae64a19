"""A real server and a real browser for the page's tests. Each also proves that no request left for another host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.server import serve
from tools.browser import launch

LOCAL_SCHEMES = ("blob", "data")
LIMIT = 15_000
"""Milliseconds a step in the browser may take before its test fails."""
PHONE = {"width": 390, "height": 844}

OpenPage = Callable[..., Page]


@pytest.fixture(scope="package")
def address() -> Iterator[str]:
    # The page shows work under way; with a cache, which test comes first would decide whether there is any.
    with serve(environment={"ANIMEBOOTH_CACHE_MIB": "0"}) as server:
        yield server.url


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright, launch(playwright) as started:
        yield started


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[OpenPage]:
    """Opens the page in a fresh profile: ``open_page(path="/", locale="zh", color_scheme="dark", ...)``.

    ``base_url`` is another server of the tests. At the end no request may have gone elsewhere, and no script may have
    failed.
    """
    servers: set[str] = {address}
    contexts: list[BrowserContext] = []
    requested: list[str] = []
    failures: list[str] = []

    def open_one(path: str = "/", **options: Any) -> Page:
        # Without movement nothing has to be waited for; the tests of movement ask for it.
        settings = {"locale": "en", "viewport": PHONE, "reduced_motion": "reduce", "base_url": address, **options}
        servers.add(settings["base_url"])
        context = browser.new_context(**settings)
        context.on("request", lambda request: requested.append(request.url))
        context.on("weberror", lambda event: failures.append(str(event.error)))
        context.set_default_timeout(LIMIT)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: failures.append(message.text) if _is_failure(message.text) else None)
        page.goto(path)
        return page

    yield open_one
    for context in contexts:
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")
        context.close()
    ours = tuple(servers)
    away = [url for url in requested if not url.startswith(ours) and urlsplit(url).scheme not in LOCAL_SCHEMES]
    assert away == []
    assert failures == []


def _is_failure(message: str) -> bool:
    return "Content Security Policy" in message or "Uncaught" in message


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return open_page()
