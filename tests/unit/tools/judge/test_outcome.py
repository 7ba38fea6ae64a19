"""What is told of a judgement: on the screen, as JSON, as a page, for a card."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace

import pytest

from app.inference.offer import pick_weights
from app.inference.tables import Table
from app.inference.verified import parse_verified
from tests.unit.tools.judge.networks import BRIGHTER, BROKEN, CARD, COARSE, SAME, outcome
from tools.command import ToolError
from tools.judge.card_entry import card_entry
from tools.judge.outcome import as_data, as_text
from tools.judge.report import html_report


def test_equal_networks_pass_and_others_do_not() -> None:
    assert outcome(SAME, "equal").passed
    assert not outcome(BRIGHTER, "equal").passed
    assert not outcome(COARSE).passed


def test_answers_that_are_no_numbers_never_pass() -> None:
    broken = outcome(BROKEN, "worst:max_error=255")
    assert all(judged.passed for judged in broken.judged)
    assert not broken.passed


def test_the_screen_names_what_was_missed() -> None:
    text = as_text(outcome(BRIGHTER, "worst:max_error=1,ssim=0"))
    assert "missed: worst max_error <= 1, is 1" in text
    assert "missed: mean ssim" not in text
    assert text.endswith("FAILED")
    assert as_text(outcome(SAME)).endswith("PASSED")


def test_json_holds_every_picture_and_nothing_that_json_has_not() -> None:
    data = json.loads(json.dumps(as_data(outcome(SAME)), allow_nan=False))
    assert data["passed"] is True
    assert data["mean"]["psnr"] is None
    assert [row["name"] for row in data["pictures"]] == [
        "folder/0.jpg",
        "folder/1.jpg",
        "made sky",
        "made skin",
        "made dark",
    ]


def test_the_page_needs_nothing_beside_it_and_shows_as_many_photos_as_asked() -> None:
    page = html_report(outcome(COARSE), most_photos=1)
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert len(sources) == 4 * (3 + 1)
    assert all(source.startswith("data:image/webp;base64,") for source in sources)
    assert "<script" not in page
    assert "url(" not in page
    assert "Failed" in page
    assert page.count("missed") == sum(not judged.passed for judged in outcome(COARSE).judged) > 0


def test_the_page_quotes_names_that_hold_markup() -> None:
    subject = outcome(SAME)
    named = replace(subject, b=replace(subject.b, name="<img src=x>"))
    assert "<img src=x>" not in html_report(named, most_photos=0)


def test_what_goes_into_a_card_can_be_read_from_it_and_makes_the_variant_an_offer() -> None:
    entry = tomllib.loads(card_entry(outcome(SAME, "equal")))["styles"]["variants"]["int8"]["verified"]
    verified = parse_verified(Table("here", entry))
    assert (verified.against, verified.pictures, verified.worst_ssim) == ("fp32", 5, 1.0)
    variants = CARD.variants | {"int8": replace(CARD.variants["int8"], verified=verified)}
    assert pick_weights(replace(CARD, variants=variants), "int8", "aarch64").weights.file == "a8.onnx"


def test_the_card_of_an_added_style_has_no_list_around_it() -> None:
    subject = outcome(SAME, "equal")
    added = replace(subject, b=replace(subject.b, added=True))
    assert "verified" in tomllib.loads(card_entry(added))["variants"]["int8"]


def test_what_failed_or_is_no_variant_of_the_same_style_goes_into_no_card() -> None:
    with pytest.raises(ToolError, match="did not pass"):
        card_entry(outcome(COARSE))
    with pytest.raises(ToolError, match="Only one variant"):
        card_entry(outcome(SAME, variant="fp32"))
