"""The picture in the booth: compared with the photo, handed over, drawn again."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import FloatRect, Page, expect

from tests.e2e.booth import (
    CASES,
    choose,
    handle,
    open_options,
    pair,
    photo,
    picture,
    sent,
    try_sample,
    watch_uploads,
)
from tests.e2e.conftest import OpenPage

pytestmark = pytest.mark.browser

AT_REST = "24"
"""Per cent of the photo that shows once the picture has been drawn over it."""
ORIENTATION = 0x0112
TURN_RIGHT = 6
"""EXIF: the camera lay on its left side; show it turned by 90 degrees clockwise."""


def test_the_slider_moves_by_keys_between_photo_and_anime(page: Page) -> None:
    try_sample(page)
    grip = handle(page)
    expect(grip).to_be_focused()
    expect(grip).to_have_attribute("aria-valuenow", AT_REST)
    for key, share in (
        ("ArrowRight", "26"),
        ("PageDown", "16"),
        ("ArrowDown", "14"),
        ("Home", "0"),
        ("ArrowLeft", "0"),
    ):
        grip.press(key)
        expect(grip).to_have_attribute("aria-valuenow", share)
    grip.press("End")
    expect(grip).to_have_attribute("aria-valuetext", "100 % photo")


def test_the_slider_follows_the_mouse_and_stays_within_the_picture(page: Page) -> None:
    try_sample(page)
    frame = pair(page).bounding_box()
    assert frame is not None
    middle = frame["y"] + frame["height"] / 2
    page.mouse.move(frame["x"] + frame["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] / 4, middle)
    expect(handle(page)).to_have_attribute("aria-valuenow", "25")
    page.mouse.move(frame["x"] + frame["width"] + 40, middle)
    expect(handle(page)).to_have_attribute("aria-valuenow", "100")
    page.mouse.up()
    page.mouse.move(frame["x"], middle)
    expect(handle(page)).to_have_attribute("aria-valuenow", "100")


def test_a_finger_that_scrolls_leaves_the_slider_and_one_that_pulls_or_taps_moves_it(open_page: OpenPage) -> None:
    page = open_page(has_touch=True, is_mobile=True)
    try_sample(page)
    frame = pair(page).bounding_box()
    assert frame is not None
    middle, top = frame["x"] + frame["width"] / 2, frame["y"] + 40
    _swipe(page, (middle, top), (middle + 4, top - 30))
    expect(handle(page)).to_have_attribute("aria-valuenow", AT_REST)
    _swipe(page, (middle, top), (frame["x"] + frame["width"] * 0.75, top + 5))
    expect(handle(page)).to_have_attribute("aria-valuenow", "75")
    page.touchscreen.tap(middle, top)
    expect(handle(page)).to_have_attribute("aria-valuenow", "50")


@pytest.mark.parametrize("sides", [(2000, 100), (1, 3000)], ids=["panorama", "strip"])
def test_very_long_pictures_leave_room_for_the_handle(page: Page, tmp_path: Path, sides: tuple[int, int]) -> None:
    file = tmp_path / "long.png"
    Image.new("RGB", sides, "teal").save(file)
    choose(page, file)
    frame = pair(page).bounding_box()
    assert frame is not None
    assert min(frame["width"], frame["height"]) >= 130
    assert frame["height"] <= page.evaluate("innerHeight") * 0.7


def test_the_photo_does_not_shine_through_where_the_picture_is_transparent(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "pane.png"
    Image.new("RGBA", (300, 300), (200, 30, 30, 90)).save(file)
    choose(page, file)
    frame = pair(page).bounding_box()
    assert frame is not None
    right: FloatRect = {"x": frame["x"] + 200, "y": frame["y"] + 60, "width": 60, "height": 60}
    shown = page.screenshot(clip=right)
    page.locator(".pair__photo").evaluate("(image) => { image.hidden = true; }")
    assert page.screenshot(clip=right) == shown


def test_photo_and_anime_lie_exactly_over_each_other(page: Page) -> None:
    choose(page, CASES / "odd_539x537.png")
    boxes = [pair(page).locator(name).bounding_box() for name in (".pair__photo", ".pair__anime")]
    assert boxes[0] == boxes[1]
    assert boxes[0] is not None
    assert boxes[0]["width"] / boxes[0]["height"] == pytest.approx(539 / 537, rel=0.01)


def test_the_first_reveal_moves_unless_motion_is_unwelcome(open_page: OpenPage) -> None:
    page = open_page(reduced_motion="no-preference")
    try_sample(page)
    expect(handle(page)).to_have_attribute("aria-valuenow", AT_REST)
    still = open_page(reduced_motion="reduce")
    assert still.evaluate("document.getAnimations().length") == 0


def test_saving_gives_the_picture_under_a_safe_name(page: Page) -> None:
    try_sample(page)
    pair(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save").click()
    assert download.value.suggested_filename == "astronaut-cute.jpg"
    saved = Image.open(io.BytesIO(download.value.path().read_bytes()))
    assert (saved.format, saved.size) == ("JPEG", (512, 512))


def test_copying_puts_a_png_on_the_clipboard(open_page: OpenPage) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    try_sample(page)
    pair(page)
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#note")).to_contain_text("Copied.")
    assert page.evaluate("navigator.clipboard.read().then(([item]) => item.types)") == ["image/png"]


def test_sharing_hands_over_the_file_where_the_system_can_share(open_page: OpenPage) -> None:
    page = open_page()
    page.evaluate(
        """() => {
          navigator.canShare = ({ files }) => files.length === 1;
          navigator.share = async ({ files }) => { window.shared = files[0]; };
        }"""
    )
    try_sample(page)
    pair(page)
    page.get_by_role("button", name="Share").click()
    assert page.evaluate("[shared.name, shared.type]") == ["astronaut-cute.jpg", "image/jpeg"]


def test_another_style_needs_no_other_choice_and_going_back_needs_no_server(page: Page) -> None:
    try_sample(page)
    first = picture(page).tobytes()
    with page.expect_response("**/convert"):
        page.get_by_role("radio", name="Countryside").check()
    assert picture(page).tobytes() != first
    expect(page.get_by_role("link", name="Save")).to_have_attribute("download", "astronaut-hayao.jpg")
    page.route("**/convert", lambda route: route.abort())
    page.get_by_role("radio", name="Cute").check()
    assert picture(page).tobytes() == first


def test_strength_zero_is_the_photo_itself(page: Page) -> None:
    try_sample(page)
    pair(page)
    open_options(page)
    with page.expect_response("**/convert"):
        page.get_by_role("slider", name="Strength").fill("0")
    difference = np.asarray(picture(page), np.int16) - np.asarray(photo(page), np.int16)
    assert np.abs(difference).mean() < 3


def test_a_portrait_is_not_laid_over_a_photo_it_does_not_match(page: Page) -> None:
    choose(page, CASES / "exif_o6.jpg")  # upright 480 x 640, with a face
    expect(handle(page)).to_be_visible()
    open_options(page)
    with page.expect_response("**/convert"):
        page.get_by_role("combobox", name="Faces").select_option("only")
    width, height = picture(page).size
    assert width == height
    expect(pair(page).locator("[role=slider]")).to_be_hidden()


def test_a_portrait_is_a_style_of_its_own_that_gives_way_to_the_options(page: Page) -> None:
    choose(page, CASES / "exif_o6.jpg")
    expect(handle(page)).to_be_visible()
    with page.expect_response("**/convert"):
        page.get_by_role("radio", name="Portrait").check()
    width, height = picture(page).size
    assert width == height
    open_options(page)
    with page.expect_response("**/convert"):
        page.get_by_role("combobox", name="Faces").select_option("auto")
    width, height = picture(page).size
    assert 4 * width == 3 * height


def test_a_photo_the_browser_cannot_show_is_drawn_all_the_same(page: Page) -> None:
    choose(page, CASES / "heic_irot6.heic")
    width, height = picture(page).size
    assert width > 0
    assert height > 0
    expect(pair(page).locator("[role=slider]")).to_be_hidden()


def test_a_large_turned_photo_is_made_smaller_before_it_travels_and_is_upright_once(page: Page, tmp_path: Path) -> None:
    watch_uploads(page)
    choose(page, _turned_photo(tmp_path / "turned.jpg"))
    drawn = picture(page)
    travelled = Image.open(io.BytesIO(sent(page)))
    assert travelled.size == (1365, 2048)
    assert not travelled.getexif()
    assert drawn.size == (512, 768)
    for image in (travelled, drawn, photo(page)):
        assert _is_red(image, at=(0.5, 0.1))
        assert not _is_red(image, at=(0.5, 0.9))
    expect(handle(page)).to_be_visible()


def test_the_original_size_sends_the_file_as_it_is(page: Page, tmp_path: Path) -> None:
    watch_uploads(page)
    page.route("**/convert", lambda route: None)
    open_options(page)
    page.get_by_role("combobox", name="Longest side").select_option("original")
    file = _turned_photo(tmp_path / "turned.jpg")
    choose(page, file)
    assert sent(page) == file.read_bytes()


def _swipe(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """One finger from ``start`` to ``end``, in CSS pixels."""
    touch = page.context.new_cdp_session(page)
    steps = [
        (start[0] + (end[0] - start[0]) * step / 8, start[1] + (end[1] - start[1]) * step / 8) for step in range(9)
    ]
    for number, (x, y) in enumerate(steps):
        kind = "touchMove" if number else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def _turned_photo(path: Path) -> Path:
    """3000 x 2000 as stored, red at the left; upright it is 2000 x 3000, red at the top."""
    stored = np.full((2000, 3000, 3), (40, 60, 200), np.uint8)
    stored[:, :1500] = (220, 40, 40)
    exif = Image.Exif()
    exif[ORIENTATION] = TURN_RIGHT
    Image.fromarray(stored).save(path, quality=95, exif=exif)
    return path


def _is_red(image: Image.Image, *, at: tuple[float, float]) -> bool:
    x, y = (round(share * side) for share, side in zip(at, image.size, strict=True))
    pixel = image.convert("RGB").getpixel((x, y))
    assert isinstance(pixel, tuple)
    return pixel[0] > pixel[2] + 60
