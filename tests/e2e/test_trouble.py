"""What the page says and does when something goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.booth import CASES, SAMPLES, choose, open_options, pair, refuse, try_sample
from tests.e2e.conftest import OpenPage

pytestmark = pytest.mark.browser


def test_cancelling_empties_the_booth_and_the_next_try_works(page: Page) -> None:
    page.route("**/convert", lambda route: None, times=1)  # an answer that never comes
    try_sample(page)
    with page.expect_event("requestfailed"):
        page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Choose a photo")).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("Cancelled.")
    try_sample(page)
    expect(pair(page)).to_be_visible()


def test_cancelling_another_wish_keeps_the_picture_there_was_and_the_wish_can_be_made_again(page: Page) -> None:
    try_sample(page)
    before = pair(page).locator(".pair__anime").get_attribute("src")
    open_options(page)
    page.route("**/convert", lambda route: None, times=2)
    page.get_by_role("slider", name="Strength").fill("40")
    page.get_by_role("radio", name="Countryside").check()
    page.get_by_role("button", name="Cancel").click()
    assert pair(page).locator(".pair__anime").get_attribute("src") == before
    expect(page.get_by_role("link", name="Save")).to_be_visible()
    expect(page.get_by_role("radio", name="Cute")).to_be_checked()
    expect(page.locator("#strength-value")).to_have_text("100 %")
    page.get_by_role("radio", name="Countryside").check()
    expect(page.get_by_role("link", name="Save")).to_have_attribute("download", "astronaut-hayao.jpg")


def test_starting_over_empties_the_booth(page: Page) -> None:
    try_sample(page)
    pair(page)
    page.get_by_role("button", name="New photo").click()
    expect(page.get_by_label("Choose a photo")).to_be_focused()
    expect(page.locator("before-after")).to_have_count(0)


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("text_named.jpg", "This is not a picture we can read."),
        ("trunc_60pct.jpg", "The picture is damaged or incomplete."),
        ("bomb_400mp.png", "megapixels"),
    ],
)
def test_a_photo_the_server_refuses_is_explained_in_its_words(page: Page, file: str, sentence: str) -> None:
    choose(page, CASES / file)
    expect(page.get_by_role("alert")).to_contain_text(sentence)
    expect(page.get_by_role("button", name="Try again")).to_be_hidden()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose another photo").click()
    chooser.value.set_files(SAMPLES / "cat.jpg")
    expect(pair(page)).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_file_over_the_limit_is_refused_before_it_travels(page: Page, tmp_path: Path) -> None:
    heavy = tmp_path / "heavy.tiff"
    heavy.write_bytes(bytes(17 * 1024 * 1024))
    page.route("**/convert", lambda route: pytest.fail("it travelled"))
    choose(page, heavy)
    expect(page.get_by_role("alert")).to_contain_text("This photo is larger than 16 MiB")


def test_413_reaches_a_script_as_an_answer(page: Page) -> None:
    answer = page.evaluate(
        """async () => {
          const form = new FormData();
          form.append("image", new Blob([new Uint8Array(24 * 1024 * 1024)], { type: "image/jpeg" }), "heavy.jpg");
          const response = await fetch("/convert", { method: "POST", body: form });
          return [response.status, response.headers.get("Content-Type"), (await response.json()).code];
        }"""
    )
    assert answer == [413, "application/problem+json", "file-too-large"]


def test_a_busy_server_is_asked_again_when_it_said(page: Page) -> None:
    refuse(page, status=503, code="overloaded", detail="Too many people are waiting.", retry_after=1)
    try_sample(page)
    expect(page.get_by_role("alert")).to_contain_text("Too many people are waiting.")
    expect(page.get_by_text("Trying again in 1 s")).to_be_visible()
    expect(pair(page)).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_failure_of_the_server_can_be_retried_by_hand(page: Page) -> None:
    refuse(page, status=500, code="internal-error", detail="Something went wrong on our side.")
    try_sample(page)
    expect(page.get_by_role("alert")).to_contain_text("Something went wrong on our side.")
    page.route("**/convert", lambda route: None, times=1)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#booth")).to_be_focused()
    page.get_by_role("button", name="Cancel").click()
    try_sample(page)
    expect(pair(page)).to_be_visible()


def test_an_answer_that_is_no_picture_is_not_shown_as_one(page: Page) -> None:
    page.route("**/convert", lambda route: route.fulfill(status=502, content_type="text/html", body="<h1>Bad</h1>"))
    try_sample(page)
    expect(page.get_by_role("alert")).to_contain_text("The answer of the server could not be read.")


def test_offline_is_said_and_mended_by_itself(open_page: OpenPage) -> None:
    page = open_page()
    page.route("**/*.jpg*", lambda route: route.continue_())
    page.context.set_offline(True)
    choose(page, SAMPLES / "cat.jpg")
    expect(page.get_by_role("alert")).to_contain_text("You are offline.")
    page.context.set_offline(False)
    expect(pair(page)).to_be_visible()


def test_a_portrait_without_a_face_tells_which_option_helps(page: Page) -> None:
    open_options(page)
    page.get_by_role("combobox", name="Faces").select_option("only")
    choose(page, SAMPLES / "coffee.jpg")
    expect(page.get_by_role("alert")).to_contain_text("Under “More”, set “Faces” to “Each on its own”")
    page.get_by_role("combobox", name="Faces").select_option("auto")
    expect(pair(page)).to_be_visible()
    expect(page.locator("#note")).to_contain_text("No face found")
