"""Every way a photo can enter the booth ends with the anime picture of that photo."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.booth import SAMPLES, choose, drop, files_of, pair, photo, picture, try_sample
from tests.e2e.conftest import OpenPage

pytestmark = pytest.mark.browser

CAT = SAMPLES / "cat.jpg"
CAT_SIDES = (451, 300)


def test_a_chosen_photo_comes_back_as_anime_of_the_same_size(page: Page) -> None:
    choose(page, CAT)
    assert picture(page).size == CAT_SIDES
    assert photo(page).tobytes() != picture(page).tobytes()
    expect(page.get_by_role("link", name="Save")).to_have_attribute("download", "cat-cute.jpg")


def test_the_photo_shows_at_once_and_the_work_can_be_followed(page: Page) -> None:
    page.route("**/convert", lambda route: None)  # an answer that never comes
    choose(page, CAT)
    expect(page.get_by_alt_text("Your photo")).to_be_visible()
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
    expect(page.get_by_text("Choose a photo")).to_be_hidden()


def test_a_photo_dropped_anywhere_is_taken(page: Page) -> None:
    files = files_of(page, CAT)
    page.dispatch_event("footer", "dragenter", {"dataTransfer": files})
    expect(page.get_by_text("Let go anywhere")).to_be_visible()
    page.dispatch_event("footer", "drop", {"dataTransfer": files})
    expect(page.get_by_text("Let go anywhere")).to_be_hidden()
    assert picture(page).size == CAT_SIDES


def test_of_several_photos_the_first_is_taken_and_said_to_be(page: Page) -> None:
    drop(page, CAT, SAMPLES / "coffee.jpg")
    assert picture(page).size == CAT_SIDES
    expect(page.locator("#note")).to_contain_text("the first one was taken")
    expect(page.get_by_role("status")).to_contain_text("the first one was taken")


def test_a_pasted_photo_is_taken(open_page: OpenPage) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.evaluate(
        """async () => {
          const canvas = Object.assign(document.createElement("canvas"), { width: 120, height: 90 });
          canvas.getContext("2d").fillRect(20, 20, 60, 40);
          const png = await new Promise((resolve) => canvas.toBlob(resolve));
          await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
        }"""
    )
    page.keyboard.press("Control+V")
    assert picture(page).size == (120, 90)
    assert picture(page).format == "PNG"


def test_pasted_text_is_left_alone(page: Page) -> None:
    page.evaluate(
        """() => {
          const text = new DataTransfer();
          text.setData("text/plain", "no photo");
          document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: text, bubbles: true }));
        }"""
    )
    expect(page.get_by_text("Choose a photo")).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_folder_is_no_photo_and_a_photo_beside_it_is_taken(page: Page) -> None:
    drop(page, SAMPLES)
    expect(page.get_by_role("alert")).to_contain_text("There was no photo in that")
    drop(page, SAMPLES, CAT)
    assert picture(page).size == CAT_SIDES


def test_the_camera_previews_mirrored_and_its_photo_is_taken(open_page: OpenPage) -> None:
    page = open_page(permissions=["camera"])
    page.get_by_role("button", name="Take a photo").click()
    shutter = page.get_by_role("button", name="Take the photo")
    expect(shutter).to_be_enabled()
    lens = page.get_by_label("Camera preview")
    assert lens.evaluate("(video) => getComputedStyle(video).scale") == "-1 1"
    stream = lens.evaluate_handle("(video) => video.srcObject")
    shutter.click()
    width, height = picture(page).size
    assert max(width, height) <= 768
    assert stream.evaluate("(stream) => stream.getTracks().every((track) => track.readyState === 'ended')")


def test_a_camera_that_is_not_allowed_leaves_the_other_ways_open(page: Page) -> None:
    page.evaluate(
        """() => {
          navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", "NotAllowedError"));
        }"""
    )
    page.get_by_role("button", name="Take a photo").click()
    expect(page.get_by_role("alert")).to_contain_text("The camera could not be opened")
    choose(page, CAT)
    expect(pair(page)).to_be_visible()


def test_where_a_page_may_not_use_the_camera_the_phones_own_is_asked_for(open_page: OpenPage) -> None:
    page = open_page()
    page.evaluate(
        """() => {
          Object.defineProperty(navigator, "mediaDevices", { value: undefined });
          const input = document.getElementById("file");
          input.addEventListener("click", () => { window.asked = input.getAttribute("capture"); });
        }"""
    )
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Take a photo").click()
    assert chooser.value.element.get_attribute("id") == "file"
    assert page.evaluate("window.asked") == "user"


def test_a_sample_photo_needs_one_tap(page: Page) -> None:
    try_sample(page, "Coffee")
    assert picture(page).size == (600, 400)
