"""Ranges and channel order found by sending photos through lite_hayao, wrapped into every pair of ranges."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from app.config import PROJECT_ROOT
from app.errors import ModelError
from app.imaging.sizing import resize
from app.inference.session import BareSession
from app.library.adding import sample_photos
from app.library.net import Net, open_net
from app.library.ranges import RANGES, Range, find_ranges
from app.types import RgbImage, Tensor
from tests.unit.library import networks

SIGNED = (-1.0, 1.0)

Wrapped = Callable[[Tensor], "Tensor | None"]


@cache
def photos() -> tuple[RgbImage, ...]:
    return tuple(resize(photo, 96, 96) for photo in sample_photos(PROJECT_ROOT / "static"))


@cache
def hayao() -> Net:
    return open_net(BareSession(networks.HAYAO, threads=2))


def wrapped(taken: Range, given: Range, *, clipped: bool = False) -> Wrapped:
    """lite_hayao as if it had been trained on ``taken`` and ``given``."""

    def run(picture: Tensor) -> Tensor | None:
        drawn = hayao().run((picture - taken[0]) / (taken[1] - taken[0]) * 2 - 1)
        assert drawn is not None
        parts = (drawn + 1) / 2
        return (np.clip(parts, 0, 1) if clipped else parts) * (given[1] - given[0]) + given[0]

    return run


@pytest.mark.parametrize("given", RANGES, ids=str)
@pytest.mark.parametrize("taken", RANGES, ids=str)
def test_the_right_pair_of_ranges_is_found(taken: Range, given: Range) -> None:
    ranges = find_ranges(wrapped(taken, given), photos(), activation=None)
    assert (ranges.input, ranges.output) == (taken, given)
    assert "close" not in ranges.findings[0].why


def test_the_right_pair_is_found_where_the_answer_is_clipped() -> None:
    ranges = find_ranges(wrapped((0.0, 1.0), (0.0, 1.0), clipped=True), photos(), activation=None)
    assert (ranges.input, ranges.output) == ((0.0, 1.0), (0.0, 1.0))


def test_a_last_activation_decides_the_output_range() -> None:
    ranges = find_ranges(wrapped(SIGNED, SIGNED), photos(), activation="Sigmoid")
    assert ranges.output == (0.0, 1.0)
    assert ranges.findings[1].why == "it ends in Sigmoid"


def test_answers_that_leave_a_range_speak_against_it() -> None:
    """More contrast and dark lines: at [0, 1] the coarse picture fits better, but its lines would be below black."""

    def inked(picture: Tensor) -> Tensor:
        lines = np.zeros_like(picture)
        lines[:, ::8] = 0.8
        return np.clip(np.sin(np.pi / 2 * picture) - lines, -1, 1).astype(np.float32)

    dark = [(photo * 0.6).astype(np.uint8) for photo in photos()]
    ranges = find_ranges(inked, dark, activation=None)
    assert (ranges.input, ranges.output) == (SIGNED, SIGNED)


def test_a_network_that_fits_every_range_alike_is_called_close_and_takes_the_usual_one() -> None:
    ranges = find_ranges(lambda picture: picture, photos(), activation=None)
    assert (ranges.input, ranges.output) == (SIGNED, SIGNED)
    assert "close, so look at the pictures" in ranges.findings[0].why


def test_rgb_is_believed_without_strong_evidence() -> None:
    ranges = find_ranges(wrapped(SIGNED, SIGNED), photos(), activation=None)
    assert ranges.order == "RGB"
    assert "--channel-order BGR says otherwise" in ranges.findings[2].why


def test_bgr_is_found_where_colours_show_it() -> None:
    """A network that warms what it takes for red spoils a photo sent in the wrong order."""

    def warmed(picture: Tensor) -> Tensor:
        blue, green, red = np.moveaxis(picture, 2, 0)
        return np.stack([blue * 0.95, green, np.where(blue > red + 0.1, -1, red)], axis=2).astype(np.float32)

    photo = np.zeros((64, 64, 3), np.uint8) + np.array([220, 120, 40], np.uint8)
    photo[:32] = (128, 128, 128)
    ranges = find_ranges(warmed, [photo], activation="Tanh")
    assert ranges.order == "BGR"


def test_a_constant_answer_is_refused() -> None:
    with pytest.raises(ModelError, match="its answer is the same for every photo"):
        find_ranges(lambda picture: np.zeros_like(picture), photos(), activation=None)


def test_a_network_that_does_not_run_is_refused() -> None:
    with pytest.raises(ModelError, match="draws nothing"):
        find_ranges(lambda picture: None, photos(), activation=None)


def test_a_range_at_which_the_photo_only_comes_back_is_not_the_right_one() -> None:
    """As where what is drawn is added to the photo and cut off, in 8 bit: at [0, 255] next to nothing is added."""

    def adding(picture: Tensor) -> Tensor:
        inside = np.clip(picture, -1, 1)
        drawn = hayao().run(inside)
        assert drawn is not None
        return picture + np.clip(drawn - inside, -0.7, 0.7)

    ranges = find_ranges(adding, photos(), activation=None)
    assert (ranges.input, ranges.output) == (SIGNED, SIGNED)


def test_a_network_that_passes_the_photo_on_at_every_range_takes_the_usual_one() -> None:
    ranges = find_ranges(lambda picture: picture, photos(), activation=None)
    assert (ranges.input, ranges.output) == (SIGNED, SIGNED)
