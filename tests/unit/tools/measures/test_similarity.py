"""SSIM and GMSD, against scikit-image and against the formula written out."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.unit.tools.measures.gradients import gray, noise, places
from tools.measures.planes import luma
from tools.measures.similarity import gmsd, ssim

X, Y = places(96)
PICTURE = np.dstack([gray(128 + 90 * np.sin(X / 7) * np.cos(Y / (5 + channel)))[..., 0] for channel in range(3)])
OTHERS = {
    "noisy": np.clip(PICTURE + np.dstack([noise(12, 96, seed) for seed in range(3)]), 0, 255).astype(np.uint8),
    "blurred": cv2.GaussianBlur(PICTURE, (0, 0), 1.5),
    "darker": (PICTURE * 0.7).astype(np.uint8),
}

# skimage.metrics.structural_similarity of scikit-image 0.26.0, Gaussian weights, no sample covariance.
SCIKIT_IMAGE = {"noisy": 0.750179302, "blurred": 0.997912545, "darker": 0.891760711}

each_other = pytest.mark.parametrize("name", OTHERS)


@each_other
def test_ssim_is_scikit_images(name: str) -> None:
    assert ssim(PICTURE, OTHERS[name]) == pytest.approx(SCIKIT_IMAGE[name], abs=1e-6)


@each_other
def test_ssim_is_that_of_the_scikit_image_at_hand(name: str) -> None:
    metrics = pytest.importorskip("skimage.metrics", reason="scikit-image comes with requirements-tools.txt")
    theirs = metrics.structural_similarity(
        PICTURE, OTHERS[name], gaussian_weights=True, sigma=1.5, use_sample_covariance=False, channel_axis=2
    )
    assert ssim(PICTURE, OTHERS[name]) == pytest.approx(theirs, abs=1e-6)


@each_other
def test_gmsd_is_its_formula(name: str) -> None:
    assert gmsd(PICTURE, OTHERS[name]) == pytest.approx(written_out_gmsd(PICTURE, OTHERS[name]), rel=1e-3)


@pytest.mark.parametrize(("measure", "best"), [(ssim, 1), (gmsd, 0)])
def test_equal_pictures_are_at_the_best_end_and_more_damage_is_further_from_it(measure, best: float) -> None:
    distances = [abs(measure(PICTURE, cv2.GaussianBlur(PICTURE, (0, 0), sigma)) - best) for sigma in (0.6, 1, 2)]
    assert measure(PICTURE, PICTURE) == pytest.approx(best)
    assert 0 < distances[0] < distances[1] < distances[2]


def test_ssim_of_a_picture_and_its_negative_is_below_nothing() -> None:
    assert ssim(PICTURE, 255 - PICTURE) < 0


def written_out_gmsd(a, b) -> float:
    """Xue et al. (2014), section II, pixel by pixel: halve, Prewitt over 3, similarity, standard deviation."""
    first, second = (_gradients(_halved(luma(picture).astype(float))) for picture in (a, b))
    similarity = (2 * first * second + 170) / (first**2 + second**2 + 170)
    return float(similarity.std())


def _halved(plane):
    return plane.reshape(plane.shape[0] // 2, 2, plane.shape[1] // 2, 2).mean(axis=(1, 3))


def _gradients(plane):
    around = np.pad(plane, 1, mode="symmetric")
    across = (around[:, :-2] - around[:, 2:]) / 3
    down = (around[:-2] - around[2:]) / 3
    across = across[:-2] + across[1:-1] + across[2:]
    down = down[:, :-2] + down[:, 1:-1] + down[:, 2:]
    return np.sqrt(across**2 + down**2)
