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


@pytest.mark.parametrize(
    ("bar", "value", "strain"),
    [
        (Bar("banding", "worst", 2), 0.5, 0.25),
        (Bar("ssim", "mean", 0.98), 0.99, 0.5),
        (Bar("ssim", "mean", 0.98), 0.96, 2),
        (Bar("psnr", "mean", 30), 60, 0.5),
        (Bar("psnr", "mean", 30), math.inf, 0),
        (Bar("psnr", "mean", 30), 0, math.inf),
        (Bar("ssim", "mean", 0.98), 1, 0),
        (Bar("banding", "mean", 0), 0, 0),
        (Bar("banding", "mean", 0), 0.1, math.inf),
        (Bar("banding", "mean", 1), math.nan, math.inf),
    ],
)
def test_strain_is_the_share_of_what_a_bar_allows(bar: Bar, value: float, strain: float) -> None:
    assert bar.strain(value) == pytest.approx(strain)


def test_a_few_pixels_far_off_are_no_pass_in_8_bit_however_good_the_means_are() -> None:
    (bar,) = [bar for bar in BAR_SETS["int8"] if bar.key == "max_error"]
    assert bar.pool == "worst"
    assert [bar.met(levels) for levels in (24, 44)] == [True, False]
