"""Bars: how they are written, and when they are met."""

from __future__ import annotations

import math

import pytest

from tools.command import ToolError
from tools.judge.bars import BAR_SETS, Bar, judge, parse_bars


def test_a_set_is_named_and_a_single_bar_takes_the_place_of_the_sets_own() -> None:
    bars = parse_bars("int8,banding=0.1, worst:ssim=0.5")
    assert len(bars) == len(BAR_SETS["int8"])
    assert {Bar("banding", "mean", 0.1), Bar("ssim", "worst", 0.5)} <= set(bars)
    assert Bar("ssim", "mean", 0.98) in bars


@pytest.mark.parametrize("text", ["int9", "simm=0.9", "ssim", "ssim=", "ssim=nan", "best:ssim=1", "", "ssim=0,9"])
def test_what_is_no_bar_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match=r"bar|number"):
        parse_bars(text)


def test_high_is_good_for_some_and_low_for_others_and_the_limit_itself_passes() -> None:
    assert [Bar("ssim", "mean", 0.9).met(value) for value in (0.95, 0.9, 0.85, math.nan)] == [True, True, False, False]
    assert [Bar("banding", "mean", 1).met(value) for value in (0.5, 1, 1.5, math.nan)] == [True, True, False, False]


def test_each_bar_looks_into_its_own_pool() -> None:
    judged = judge(parse_bars("ssim=0.9,worst:ssim=0.9"), {"ssim": 0.95}, {"ssim": 0.85})
    assert [(str(it.bar), it.value, it.passed) for it in judged] == [
        ("mean ssim >= 0.9", 0.95, True),
        ("worst ssim >= 0.9", 0.85, False),
    ]
