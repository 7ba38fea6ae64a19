"""A booth that opens with a key: the page asks for it, kindly and once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.booth import SAMPLES, choose, pair, picture, try_sample
from tests.e2e.conftest import OpenPage
from tests.server import serve

pytestmark = pytest.mark.browser

KEY = "open sesame"


@pytest.fixture(scope="module")
def locked() -> Iterator[str]:
    """Address of a service with a key."""
    with serve(environment={"ANIMEBOOTH_API_KEY": KEY}) as server:
        yield server.url


def _give(page: Page, key: str) -> None:
    page.get_by_label("Key", exact=True).fill(key)
    page.keyboard.press("Enter")


def test_the_key_is_asked_for_and_the_same_photo_goes_on(open_page: OpenPage, locked: str) -> None:
    page = open_page(base_url=locked)
    choose(page, SAMPLES / "cat.jpg")
    field = page.get_by_label("Key", exact=True)
    expect(page.get_by_role("alert")).to_contain_text("This booth opens with a key")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("type", "password")
    expect(page.get_by_role("button", name="Try again")).to_be_hidden()
    _give(page, "open barley")
    expect(page.get_by_role("alert")).to_contain_text("That key does not fit")
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    _give(page, KEY)
    assert picture(page).size == (451, 300)
    expect(field).to_be_hidden()


def test_the_key_lasts_as_long_as_the_tab_and_is_nowhere_else(open_page: OpenPage, locked: str) -> None:
    page = open_page(base_url=locked)
    try_sample(page, "Cat")
    _give(page, KEY)
    pair(page)
    page.reload()
    try_sample(page, "Cat")
    pair(page)
    kept = page.evaluate("JSON.stringify([Object.values(localStorage), document.cookie, location.href])")
    assert KEY not in kept
    other_tab = page.context.new_page()
    other_tab.goto("/")
    try_sample(other_tab, "Cat")
    expect(other_tab.get_by_label("Key", exact=True)).to_be_visible()


def test_a_key_is_kept_in_memory_where_storage_is_barred(open_page: OpenPage, locked: str) -> None:
    page = open_page(base_url=locked)
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }; }")
    try_sample(page, "Cat")
    _give(page, KEY)
    pair(page)
    page.get_by_role("button", name="New photo").click()
    try_sample(page, "Coffee")
    pair(page)


def test_without_a_script_the_form_says_that_it_cannot_send_a_key(open_page: OpenPage, locked: str) -> None:
    page = open_page(base_url=locked, java_script_enabled=False, locale="zh")
    sentence = "普通表单无法发送密钥"
    expect(page.locator("noscript p")).to_contain_text(sentence)
    expect(page.locator("noscript button")).to_have_count(0)
    page.locator("#file").set_input_files(SAMPLES / "cat.jpg")
    # As from a page that was open before the key was set.
    page.locator("#form").evaluate("(form) => form.submit()")
    expect(page.get_by_role("heading", name="没有成功")).to_be_visible()
    expect(page.get_by_text(sentence)).to_be_visible()
