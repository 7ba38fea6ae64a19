"""Ink: dark lines along the contours, wider where the contour is stronger.

Sources: H. Kang, S. Lee, C. Chui, "Coherent line drawing", NPAR 2007 (difference of Gaussians across the flow, summed
along it); H. Winnemöller, J. E. Kyprianidis, S. C. Olsen, "XDoG", Computers & Graphics 2012 (soft threshold);
C. Grigorescu, N. Petkov, M. Westenberg, "Contour detection based on nonclassical receptive field inhibition", IEEE TIP
2003 (texture around raises the threshold, so contours stay and texture goes).
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from training.ink.structure import Flow, Plane, as_plane, gaussian, pixel_grid, sample, walk


def line_response(light: Plane, flow: Flow, *, sigma: float, length: int) -> Plane:
    """How much darker a place is than its sides, in units of `light`: (H, W), above 0 where a line could be.

    sigma: half width of the line in px, roughly; length: px summed along the flow to either side.
    """
    darker = _darkness_across(light, flow, sigma)
    total, weights = darker.copy(), 1.0
    for sign in (1, -1):
        for step, (x, y) in enumerate(walk(flow, length, sign), start=1):
            weight = float(np.exp(-0.5 * (step / (0.5 * length)) ** 2))
            total += np.float32(weight) * sample(darker, x, y)
            weights += weight
    return as_plane(total / np.float32(weights))


def _darkness_across(light: Plane, flow: Flow, sigma: float) -> Plane:
    """A wide Gaussian minus a narrow one (1.6 times narrower, Marr and Hildreth 1980), across the flow."""
    x, y = pixel_grid(*light.shape)
    reach = int(np.ceil(2.5 * 1.6 * sigma))
    offsets = np.arange(-reach, reach + 1)
    narrow, wide = (_bell(offsets, width) for width in (sigma, 1.6 * sigma))
    result = np.zeros_like(light)
    for offset, weight in zip(offsets.tolist(), wide - narrow, strict=True):
        result += np.float32(weight) * sample(
            light, as_plane(x - offset * flow.along_y), as_plane(y + offset * flow.along_x)
        )
    return result


def _bell(offsets: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.exp(-0.5 * (offsets / sigma) ** 2)
    return weights / np.sum(weights)


def ink_amount(response: Plane, *, threshold: float, softness: float, calm: float, slim: float) -> Plane:
    """From the response to ink, 0 (none) to 1 (full): (H, W).

    Below the threshold there is none, `softness` above it all. The threshold is `threshold`, raised by `calm` times the
    mean response around (18 px), and by `slim` times the highest one beside, so that strong lines do not grow fat.
    """
    around = gaussian(as_plane(np.abs(response)), 9.0, 18)
    highest = as_plane(cv2.dilate(response, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))))
    needed = np.float32(threshold) + np.float32(calm) * around + np.float32(slim) * highest
    return smooth_step(as_plane((response - needed) / np.float32(softness)))


def smooth_step(value: Plane) -> Plane:
    """0 below 0, 1 above 1, in between 3 v^2 - 2 v^3."""
    inside = np.clip(value, 0, 1)
    return as_plane(inside * inside * (3 - 2 * inside))
