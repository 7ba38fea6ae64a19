"""The language is the first one wished for that we speak."""

import pytest

from app.i18n import as_language, pick_language


@pytest.mark.parametrize(
    ("tag", "language"),
    [("en-GB", "en"), ("zh-Hant-TW", "zh"), ("zh_CN", "zh"), ("JA", "ja"), ("fr", None), ("", None), ("zhx", None)],
)
def test_a_tag_counts_by_its_first_part(tag: str, language: str | None) -> None:
    assert as_language(tag) == language


def test_the_first_language_we_speak_is_taken() -> None:
    assert pick_language(["fr", "ja-JP", "en"]) == "ja"


def test_without_one_it_is_english() -> None:
    assert pick_language(["fr", "de"]) == pick_language([]) == "en"
