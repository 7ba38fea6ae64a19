"""How alike two pictures look: SSIM, and GMSD as a perceptual distance that needs no trained network."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np

from app.types import RgbImage
from tools.measures.planes import Plane, luma

SIGMA: Final = 1.5
RADIUS: Final = 5
"""The window of Wang et al. (2004): a Gaussian of 1.5 px, 11 x 11."""

STABILIZERS: Final = ((0.01 * 255) ** 2, (0.03 * 255) ** 2)
"""C1 and C2 of Wang et al. (2004), equation 13, for 255 levels."""

GRADIENT_STABILIZER: Final = 170.0
"""The constant of Xue et al. (2014), equation 4, for 255 levels."""


def ssim(a: RgbImage, b: RgbImage) -> float:
    """Structural similarity: 1 for equal pictures, about 0 for unrelated ones. The mean of the three channels.

    Wang, Bovik, Sheikh, Simoncelli: Image quality assessment: from error visibility to structural similarity, IEEE
    TIP 13(4), 2004. The same number as scikit-image's ``structural_similarity`` with ``gaussian_weights=True,
    sigma=1.5, use_sample_covariance=False, channel_axis=2``, whose rim of 5 px is left out too. Sides must be at
    least 11 px.
    """
    inside = slice(RADIUS, -RADIUS)
    return float(ssim_map(a, b)[inside, inside].mean(dtype=np.float64))


def ssim_map(a: RgbImage, b: RgbImage) -> Plane:
    """(H, W, 3) float32: SSIM at each pixel of each channel."""
    first, second = a.astype(np.float64), b.astype(np.float64)
    mean_a, mean_b = _windowed(first), _windowed(second)
    variances = _windowed(first * first) + _windowed(second * second) - mean_a**2 - mean_b**2
    covariance = _windowed(first * second) - mean_a * mean_b
    c1, c2 = STABILIZERS
    above = (2 * mean_a * mean_b + c1) * (2 * covariance + c2)
    below = (mean_a**2 + mean_b**2 + c1) * (variances + c2)
    return np.asarray(above / below, np.float32)


def _windowed(values: cv2.typing.MatLike) -> cv2.typing.MatLike:
    size = 2 * RADIUS + 1
    return cv2.GaussianBlur(values, (size, size), SIGMA)


def gmsd(a: RgbImage, b: RgbImage) -> float:
    """Gradient magnitude similarity deviation: 0 for equal pictures. A blur of 2 px reads 0.11 on a sample photo.

    Xue, Zhang, Mou, Bovik: Gradient magnitude similarity deviation: a highly efficient perceptual image quality
    index, IEEE TIP 23(2), 2014: how unevenly the edges of the two pictures, at half size, agree. Chosen because it
    follows people's scores about as well as trained measures of its time, has no weights to fetch, and takes
    milliseconds.
    """
    first, second = (_half_gradient(luma(picture)) for picture in (a, b))
    similarity = (2 * first * second + GRADIENT_STABILIZER) / (first**2 + second**2 + GRADIENT_STABILIZER)
    return float(similarity.std(dtype=np.float64))


def _half_gradient(plane: Plane) -> Plane:
    half = cv2.boxFilter(plane, -1, (2, 2), anchor=(0, 0), borderType=cv2.BORDER_REFLECT)[::2, ::2]
    prewitt = np.repeat(np.array([[1, 0, -1]], np.float32) / 3, 3, axis=0)
    across, down = (cv2.filter2D(half, -1, kernel, borderType=cv2.BORDER_REFLECT) for kernel in (prewitt, prewitt.T))
    return np.hypot(across, down).astype(np.float32)
