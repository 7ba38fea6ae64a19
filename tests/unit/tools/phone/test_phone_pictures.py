"""Pictures of exactly one size."""

from __future__ import annotations

import numpy as np
import pytest

from tools.phone.pictures import color_chart, covering, trial_pictures


@pytest.mark.parametrize("size", [(40, 40), (96, 32), (32, 96), (8, 8), (200, 120)])
def test_a_picture_fills_the_size_and_is_not_squashed(size: tuple[int, int]) -> None:
    rows, columns = np.mgrid[0:60, 0:100]
    disc = ((rows - 30) ** 2 + (columns - 50) ** 2 < 20**2) * np.uint8(255)
    filled = covering(np.repeat(disc[..., np.newaxis], 3, axis=2), size)
    assert filled.shape == (size[1], size[0], 3)
    inside = filled[..., 0] > 127
    wide, high = inside.any(axis=0).sum(), inside.any(axis=1).sum()
    # The disc is cut where the size is flatter than it; else it is as wide as high.
    assert wide == pytest.approx(high, abs=2) or wide == size[0] or high == size[1]
    assert inside[size[1] // 2, size[0] // 2]


def test_no_two_channels_or_directions_of_the_chart_can_be_swapped() -> None:
    chart = color_chart((96, 64))
    turned = [chart[:, ::-1], chart[::-1], chart[::-1, ::-1], chart[..., ::-1], chart[..., [1, 0, 2]]]
    assert chart.shape == (64, 96, 3)
    assert all(np.abs(chart.astype(int) - other).max() == 255 for other in turned)


def test_trial_pictures_are_the_photos_and_made_gradients() -> None:
    photo = np.full((50, 70, 3), 200, np.uint8)
    pictures = trial_pictures([photo], (32, 48))
    assert (len(pictures.photos), len(pictures.made)) == (1, 3)
    assert {picture.shape for picture in pictures.all} == {(48, 32, 3)}
    assert (pictures.all[0] == 200).all()
