"""The page for everyone: without a script, by keyboard, on small screens, in the dark, in three languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.e2e.booth import CASES, SAMPLES, open_options, pair, refuse, try_sample
from tests.e2e.conftest import PHONE, OpenPage

pytestmark = pytest.mark.browser

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PRESSED = ("a", "button", "label.press", "select", "#key", "summary", "[role=slider]")
LEAST_TARGET = 44
"""CSS pixels each way: what a thumb hits (WCAG 2.2 asks 24 for AA and 44 for AAA)."""


def _empty(page: Page) -> None:
    expect(page.locator("[data-state=empty]")).to_be_visible()


def _options(page: Page) -> None:
    open_options(page)


def _working(page: Page) -> None:
    page.route("**/convert", lambda route: None)
    page.locator("[data-sample]").first.click()
    expect(page.locator("#cancel")).to_be_visible()


def _result(page: Page) -> None:
    page.locator("[data-sample]").last.click()
    pair(page)


def _problem(page: Page) -> None:
    refuse(page, status=500, code="internal-error", detail="…")
    page.locator("[data-sample]").first.click()
    expect(page.locator("#problem")).to_be_visible()


def _key(page: Page) -> None:
    refuse(page, status=401, code="unauthorized", detail="…")
    page.locator("[data-sample]").first.click()
    expect(page.locator("#key")).to_be_visible()


def _camera(page: Page) -> None:
    page.locator("#camera").click()
    expect(page.locator("[data-do=shoot]")).to_be_enabled()


SCENES: dict[str, Callable[[Page], None]] = {
    "empty": _empty,
    "options": _options,
    "working": _working,
    "result": _result,
    "problem": _problem,
    "key": _key,
    "camera": _camera,
}


@pytest.mark.parametrize(
    ("scene", "scheme", "locale"),
    [
        ("empty", "light", "en"),
        ("empty", "dark", "zh"),
        ("options", "light", "ja"),
        ("options", "dark", "en"),
        ("working", "light", "en"),
        ("working", "dark", "en"),
        ("result", "light", "zh"),
        ("result", "dark", "en"),
        ("problem", "light", "en"),
        ("problem", "dark", "ja"),
        ("key", "light", "en"),
        ("key", "dark", "zh"),
        ("camera", "light", "en"),
    ],
)
def test_axe_finds_nothing(open_page: OpenPage, scene: str, scheme: str, locale: str) -> None:
    page = open_page(color_scheme=scheme, locale=locale, permissions=["camera"])
    SCENES[scene](page)
    _assert_accessible(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("path", "heading"), [("/nowhere", "That did not work"), ("/docs", "AnimeBooth API")])
def test_axe_finds_nothing_on_the_other_pages(open_page: OpenPage, path: str, heading: str, scheme: str) -> None:
    page = open_page(path, color_scheme=scheme)
    expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    _assert_accessible(page)


def test_without_a_script_the_form_answers_with_a_page(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False, locale="ja")
    page.get_by_label("写真を選ぶ").set_input_files(SAMPLES / "cat.jpg")
    page.get_by_role("radio", name="田園").check()
    page.get_by_role("button", name="アニメにする").click()
    image = page.get_by_role("img", name="アニメ")
    expect(image).to_have_attribute("width", "451")
    expect(page.get_by_role("link", name="保存")).to_have_attribute("download", "cat-hayao.jpg")
    page.go_back()
    page.get_by_label("写真を選ぶ").set_input_files(CASES / "text_named.jpg")
    page.get_by_role("button", name="アニメにする").click()
    expect(page.get_by_text("この種類の画像は読めません")).to_be_visible()


def test_the_keyboard_alone_gets_from_the_top_to_the_picture_and_shows_where_it_is(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    with page.expect_file_chooser() as chooser:
        # Looked at in here: the answers also tell that the browser has heard of the chooser being expected.
        expect(page.get_by_label("Choose a photo")).to_be_focused()
        button = page.locator("label", has_text="Choose a photo")
        assert button.evaluate("(element) => getComputedStyle(element).outlineStyle") == "solid"
        page.keyboard.press("Enter")
    chooser.value.set_files(SAMPLES / "astronaut.jpg")
    pair(page)
    page.keyboard.press("End")
    expect(page.get_by_role("slider", name="Compare photo and anime")).to_have_attribute("aria-valuenow", "100")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Save")).to_be_focused()


def test_what_a_screen_reader_hears_is_said_once(page: Page) -> None:
    page.evaluate(
        """() => {
          window.heard = [];
          const listen = () => heard.push(document.getElementById("announce").textContent);
          new MutationObserver(listen).observe(document.getElementById("announce"), { childList: true });
        }"""
    )
    try_sample(page, "Coffee")
    pair(page)
    note = "No face found, so the whole picture was drawn in one go."
    assert page.evaluate("heard") == ["Drawing", f"Done. Cute, 600 × 400 pixels. {note}"]


@pytest.mark.parametrize(
    ("scene", "locale"),
    [("options", "ja"), ("result", "en"), ("problem", "ja"), ("key", "ja"), ("working", "en"), ("camera", "en")],
)
def test_the_narrowest_phone_never_scrolls_sideways(open_page: OpenPage, scene: str, locale: str) -> None:
    page = open_page(viewport={"width": 320, "height": 640}, locale=locale, permissions=["camera"])
    SCENES[scene](page)
    assert _overflow(page) <= 0
    page.add_style_tag(url=_larger_text(page))
    assert _overflow(page) <= 0, "with the text at 200 %"


@pytest.mark.parametrize("scene", ["options", "result", "problem", "key", "working", "camera"])
def test_everything_to_press_is_large_enough_for_a_thumb(open_page: OpenPage, scene: str) -> None:
    page = open_page(viewport=PHONE, permissions=["camera"], has_touch=True)
    SCENES[scene](page)
    targets = page.locator(", ".join(f"{kind}:visible" for kind in PRESSED))
    small = [_name(target) for target in targets.all() if _is_small(target)]
    assert small == []


@pytest.mark.parametrize(("locale", "title"), [("zh-CN", "进来是你"), ("ja-JP", "入るときは"), ("fr", "Step in")])
def test_the_language_is_the_browsers_own(open_page: OpenPage, locale: str, title: str) -> None:
    page = open_page(locale=locale)
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    assert page.locator("html").get_attribute("lang") == {"zh-CN": "zh", "ja-JP": "ja", "fr": "en"}[locale]


def test_a_language_chosen_by_hand_stays_and_the_server_answers_in_it(page: Page) -> None:
    page.get_by_role("link", name="中文").click()
    page.goto("/")
    assert page.locator("html").get_attribute("lang") == "zh"
    page.locator("#file").set_input_files(CASES / "text_named.jpg")
    expect(page.get_by_role("alert")).to_contain_text("无法读取这种文件")


def test_the_colours_follow_the_system_until_chosen_by_hand(open_page: OpenPage) -> None:
    page = open_page(color_scheme="dark")
    assert _is_dark(page)
    page.get_by_role("button", name="Dark colours", pressed=True).click()
    assert not _is_dark(page)
    page.reload()
    assert not _is_dark(page)
    page.get_by_role("button", name="Dark colours", pressed=False).click()
    page.emulate_media(color_scheme="light")
    assert not _is_dark(page), "a choice equal to the system's goes back to following it"


def test_the_usual_time_is_learned_from_answers_and_odd_storage_does_no_harm(page: Page) -> None:
    page.evaluate("localStorage.setItem('usual-seconds', '{\"cute 768\": \"soon\"}')")
    page.reload()
    try_sample(page)
    pair(page)
    learned = page.evaluate("JSON.parse(localStorage.getItem('usual-seconds'))['cute 768']")
    assert len(learned) == 1
    assert learned[0] > 0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("decode;dur=9.1, infer;dur=203.4, total;dur=246.0", 0.246),
        ("cache;dur=0.2, decode;dur=9.1, infer;dur=203.4, total;dur=246.0", 0.246),
        ("decode;dur=40, infer;dur=60", 0.1),
        ("cache;dur=0.3, total;dur=1.4", 0),
        ("cache;dur=0.3, blend;dur=1, encode;dur=8, total;dur=12", 0),
        ("", 0),
    ],
)
def test_an_answer_from_the_cache_says_nothing_of_the_usual_time(page: Page, header: str, seconds: float) -> None:
    script = "header => import('/static/js/answer.js').then(({serverSeconds}) => serverSeconds(header))"
    assert page.evaluate(script, header) == seconds


def test_the_work_is_told_against_the_usual_time(page: Page) -> None:
    # The real answer comes too soon to be watched: the panel is asked to show a longer one.
    start: float = page.evaluate(
        """async () => {
          const [{ Progress }, { makeText }] = await Promise.all(
            ["progress", "text"].map((name) => import(`/static/js/${name}.js`)),
          );
          const part = (id) => document.getElementById(id);
          const [panel, step, usual, bar] = ["work", "work-step", "work-usual", "work-bar"].map(part);
          const progress = new Progress({ panel, step, usual, bar }, makeText(JSON.parse(part("form").dataset.text)));
          progress.preparing();
          progress.working(7);
          return bar.value;
        }"""
    )
    expect(page.locator("#work-usual")).to_have_text("usually about 7 s")
    assert start == pytest.approx(30, abs=0.5)


def _assert_accessible(page: Page) -> None:
    found = Axe().run(
        page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    )
    assert found.violations_count == 0, found.generate_report()


def _overflow(page: Page) -> int:
    width: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return width


def _larger_text(page: Page) -> str:
    """Address of a sheet that doubles the text: from our own host, as the page's policy asks."""
    page.route("**/larger.css", lambda route: route.fulfill(content_type="text/css", body="html { font-size: 200% }"))
    return "/larger.css"


def _name(target: Locator) -> str:
    return target.evaluate("(element) => element.outerHTML.slice(0, 120)")


def _is_small(target: Locator) -> bool:
    box = target.bounding_box()
    return box is None or min(box["width"], box["height"]) < LEAST_TARGET - 0.5


def _is_dark(page: Page) -> bool:
    shade: float = page.evaluate(
        "parseInt(getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/)[0])"
    )
    return shade < 128
