"""The pages of a service whose visitors have no JavaScript, and cards of styles that somebody added."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

import pytest

from app.conversion import Notice
from app.engine import Engine, StyleInfo
from app.page_text import PAGE_TEXTS
from tests.unit.stubs import FixedDetector, card, face_at, parts, started
from tests.unit.web.service import BROWSER, PHOTO, client, form


def _page(engine: Engine | None = None, *, data: bytes = PHOTO, language: str = "en", **options: str) -> str:
    """What a browser gets that posts the form without JavaScript."""
    headers = {"Accept": BROWSER, "Accept-Language": language}
    return client(engine).post("/convert", data=form(data, style="cute", **options), headers=headers).text


@pytest.mark.parametrize(
    ("language", "facts"),
    [
        ("en", "Cute · 96 × 64 pixels · faces drawn: 2"),
        ("zh", "可爱 · 96 × 64 像素 · 单独绘制的人脸：2"),
        ("ja", "キュート · 96 × 64 ピクセル · 描いた顔：2"),
    ],
)
def test_the_result_tells_style_size_and_faces_in_the_readers_language(language: str, facts: str) -> None:
    two = FixedDetector([face_at(4, 10, 40), face_at(52, 10, 40)])
    page = _page(started(detector=two), language=language)
    assert facts in page
    assert 'download="me-cute.png"' in page
    assert "note" not in page.partition("tray")[2]


def test_the_result_tells_what_the_sender_should_know() -> None:
    assert PAGE_TEXTS["zh"]["notice.faces-off"] in _page(language="zh")


@pytest.mark.parametrize("notice", get_args(Notice))
def test_the_page_has_words_for_every_notice(notice: str) -> None:
    assert f"notice.{notice}" in PAGE_TEXTS["en"]


def test_an_error_speaks_of_the_page_where_the_page_has_words_of_its_own() -> None:
    assert PAGE_TEXTS["en"]["error.code.no-face-found"] in _page(started(detector=FixedDetector()), face="only")
    heavy = {"data": bytes(2**20 + 2**17), "content_type": "image/png", "headers": {"Accept": BROWSER}}
    assert "This photo is larger than 1 MiB" in client(max_upload_mib=1).post("/convert", **heavy).text
    assert "This is not a picture we can read." in _page(data=b"not a picture")


class _WithAdded(Engine):
    """An engine with a style beside the built-in ones, as its owner may add it."""

    def styles(self) -> list[StyleInfo]:
        own = replace(
            card("hayao"), id="my-own_style.2", title={"en": "My <own>", "zh": "我的", "ja": "自分の"}, source=None
        )
        return [*super().styles(), StyleInfo(own, "available")]


def test_an_added_style_has_a_card_with_a_drawn_placeholder_and_no_dead_link() -> None:
    engine = _WithAdded(parts())
    engine.start(warm=False)
    page = client(engine).get("/").text
    own = page.partition('id="style-my-own_style.2"')[2].partition("<fieldset")[0].partition("</fieldset>")[0]
    assert "My &lt;own&gt;" in own
    assert re.search(r'<svg class="card__blank".+?</svg>', own, re.DOTALL)
    assert "<img" not in own
    assert "href" not in own
    assert page.count('<svg class="card__blank"') == 1
