"""How far two pictures are apart, told so that a failure explains itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.types import RgbImage


def assert_alike(
    picture: npt.NDArray[np.uint8], wanted: npt.NDArray[np.uint8], *, mean: float, shift: float = 1.0
) -> None:
    """Fail unless the mean absolute difference is at most ``mean`` and the mean difference ``shift``, both of 255."""
    assert picture.shape == wanted.shape
    difference = picture.astype(np.float32) - wanted
    size = np.abs(difference)
    told = f"mean {size.mean():.2f}, shift {difference.mean():+.2f}, percentiles 50/90/99/100 "
    told += "/".join(f"{value:.0f}" for value in np.percentile(size, (50, 90, 99, 100)))
    assert size.mean() <= mean, told
    assert abs(float(difference.mean())) <= shift, told


def assert_same(picture: RgbImage, wanted: npt.NDArray[np.uint8]) -> None:
    """Fail unless no sample differs by more than rounding."""
    assert picture.shape == wanted.shape
    worst = int(np.abs(picture.astype(np.int16) - wanted).max())
    assert worst <= 1, f"off by up to {worst}"
