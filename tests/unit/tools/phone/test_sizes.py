"""Sizes as people write them, held against what a network takes."""

from __future__ import annotations

import pytest

from app.imaging.sizing import SizeRequirements
from tools.command import ToolError
from tools.phone.sizes import parse_size, pick_sizes, size_name

ANY = SizeRequirements(multiple_of=8, minimum=16)
FIXED = SizeRequirements(multiple_of=8, minimum=512, fixed=(512, 512))


@pytest.mark.parametrize(("text", "size"), [("256", (256, 256)), ("384x512", (384, 512)), ("96X64", (96, 64))])
def test_a_size_is_read(text: str, size: tuple[int, int]) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "x", "0", "-8", "256x", "x256", "12.5", "4096", "256x256x3", "²"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match="is no size"):
        parse_size(text)


def test_usual_sizes_are_taken_where_none_is_named() -> None:
    assert pick_sizes(ANY, []) == ((256, 256), (384, 384), (512, 512))


def test_a_network_of_fixed_size_has_that_one() -> None:
    assert pick_sizes(FIXED, []) == ((512, 512),)


def test_sizes_come_smallest_first_and_once() -> None:
    assert pick_sizes(ANY, [(64, 64), (16, 32), (64, 64)]) == ((16, 32), (64, 64))


@pytest.mark.parametrize(
    ("needs", "size", "why"),
    [
        (ANY, (100, 96), "multiples of 8 px"),
        (ANY, (8, 64), "at least 16 px"),
        (FIXED, (256, 256), "fixed at 512x512"),
    ],
)
def test_a_size_that_the_network_does_not_take_is_refused(needs: SizeRequirements, size, why: str) -> None:
    with pytest.raises(ToolError, match=f"does not take {size_name(size)}: .*{why}"):
        pick_sizes(needs, [size])
