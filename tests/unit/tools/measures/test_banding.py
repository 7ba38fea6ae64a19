"""Banding, on ramps whose number of levels is known."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import pytest

from tests.unit.tools.measures.gradients import SIDE, cut_to, gray, noise, ramps
from tools.measures.banding import banding

BITS = (4, 5, 6, 8)

each_ramp = pytest.mark.parametrize("ramp", ramps().values(), ids=ramps().keys())


@each_ramp
def test_fewer_bits_are_more_banding(ramp) -> None:
    readings = [banding(gray(ramp), gray(cut_to(ramp, bits))) for bits in BITS]
    assert all(more > 1.4 * less for more, less in pairwise(readings)), readings
    assert readings[-2] > 1
    assert readings[-1] == 0


@each_ramp
def test_grain_in_the_original_hides_no_bands(ramp) -> None:
    grainy = gray(ramp + noise(2))
    readings = [banding(grainy, gray(cut_to(ramp, bits))) for bits in BITS]
    assert all(more > 1.4 * less for more, less in pairwise(readings)), readings
    assert readings[-1] < 0.1


@each_ramp
def test_bands_that_a_network_has_softened_are_bands(ramp) -> None:
    soft = [cv2.GaussianBlur(cut_to(ramp, bits), (0, 0), 1.5) for bits in BITS]
    readings = [banding(gray(ramp), gray(levels)) for levels in soft]
    assert all(more > 1.4 * less for more, less in pairwise(readings)), readings


@each_ramp
@pytest.mark.parametrize("bits", BITS)
def test_dithering_is_no_banding(ramp, bits: int) -> None:
    step = 255 / (2**bits - 1)
    dither = np.random.default_rng(1).uniform(-step / 2, step / 2, (SIDE, SIDE))
    banded = banding(gray(ramp), gray(cut_to(ramp, bits)))
    assert banding(gray(ramp), gray(cut_to(ramp + dither, bits))) < max(0.1, 0.15 * banded)


@each_ramp
def test_noise_is_no_banding(ramp) -> None:
    assert banding(gray(ramp), gray(ramp + noise(3))) < 0.05


@each_ramp
def test_brighter_and_of_more_contrast_is_no_banding(ramp) -> None:
    assert banding(gray(ramp), gray(1.15 * ramp + 4)) < 0.25


@each_ramp
def test_bands_that_the_original_has_too_are_not_new(ramp) -> None:
    banded = gray(cut_to(ramp, 5))
    assert banding(banded, banded) == 0
    assert banding(banded, gray(ramp)) < 0.3


def test_edges_of_the_original_are_no_bands() -> None:
    checks = np.kron(np.indices((8, 8)).sum(axis=0) % 2, np.ones((32, 32)))
    assert banding(gray(80 + 60 * checks), gray(60 + 100 * checks)) == 0


def test_a_picture_that_is_smooth_nowhere_has_no_banding() -> None:
    rough = gray(128 + noise(80))
    assert banding(rough, gray(cut_to(ramps()["sky"], 4))) == 0
