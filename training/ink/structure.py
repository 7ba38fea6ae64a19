"""Which way a picture's edges run: the smoothed structure tensor and walks along its flow.

Sources: J. Bigün, G. Granlund, "Optimal orientation detection of linear symmetry", ICCV 1987 (the tensor);
H. Kang, S. Lee, C. Chui, "Coherent line drawing", NPAR 2007 (filters that follow the flow of edges);
J. E. Kyprianidis, J. Döllner, "Image abstraction by structure adaptive filtering", TPCG 2008 (the tensor as the flow);
H. Scharr, "Optimale Operatoren in der digitalen Bildverarbeitung", Heidelberg 2000 (the derivative).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

Plane = NDArray[np.float32]
"""(H, W) or (H, W, C), float32."""


def as_plane(array: ArrayLike) -> Plane:
    """What OpenCV or NumPy answered, told to the type checker; no copy where it is float32 already."""
    return np.asarray(array, np.float32)


BORDER = cv2.BORDER_REFLECT_101
_SCHARR_SMOOTH = np.array([3, 10, 3], np.float32) / 16
_CENTRAL = np.array([-1, 0, 1], np.float32) / 2


@dataclass(frozen=True)
class Flow:
    """Unit vectors along the edges at every pixel; their sign means nothing, a line has two ends.

    along_x, along_y: (H, W) parts of the tangent.
    """

    along_x: Plane
    along_y: Plane


def gaussian(image: Plane, sigma: float, radius: int) -> Plane:
    """`image` blurred by `sigma` px; nothing farther away than `radius` px counts."""
    side = 2 * radius + 1
    return as_plane(cv2.GaussianBlur(image, (side, side), sigma, borderType=BORDER))


def gradients(image: Plane) -> tuple[Plane, Plane]:
    """The derivatives of each channel by x and y, in units of the image per pixel."""
    by_x = cv2.sepFilter2D(image, cv2.CV_32F, _CENTRAL, _SCHARR_SMOOTH, borderType=BORDER)
    by_y = cv2.sepFilter2D(image, cv2.CV_32F, _SCHARR_SMOOTH, _CENTRAL, borderType=BORDER)
    return as_plane(by_x), as_plane(by_y)


def find_flow(lab: Plane, sigma: float, radius: int) -> Flow:
    """The flow of `lab`, (H, W, 3): its structure tensor summed over the channels and blurred by `sigma` px."""
    by_x, by_y = gradients(lab)
    tensor = np.stack([(by_x * by_x).sum(axis=2), (by_x * by_y).sum(axis=2), (by_y * by_y).sum(axis=2)], axis=2)
    xx, xy, yy = cv2.split(gaussian(as_plane(tensor), sigma, radius))
    # The angle of the steepest change; the tangent stands upright on it.
    angle = 0.5 * cv2.phase(xx - yy, 2 * xy)
    across_x, across_y = cv2.polarToCart(np.ones_like(angle), angle)
    return Flow(as_plane(-across_y), as_plane(across_x))


def pixel_grid(height: int, width: int) -> tuple[Plane, Plane]:
    """The x and the y of every pixel, each (H, W)."""
    grid_y, grid_x = np.mgrid[0:height, 0:width].astype(np.float32)
    return grid_x, grid_y


def sample(image: Plane, x: Plane, y: Plane) -> Plane:
    """`image` at the places `x`, `y` (H, W), between pixels by bilinear interpolation."""
    return as_plane(cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=BORDER))


def walk(flow: Flow, steps: int, sign: int) -> Iterator[tuple[Plane, Plane]]:
    """From every pixel `steps` steps of 1 px along the flow, the one or the other way (`sign` +1 or -1).

    Euler's method, as Kang et al. (section 2.3). Yields the places' x and y, (H, W), after each step.
    """
    x, y = pixel_grid(*flow.along_x.shape)
    tangents = as_plane(cv2.merge([flow.along_x, flow.along_y]))
    step_x, step_y = sign * flow.along_x, sign * flow.along_y
    for step in range(steps):
        x, y = x + step_x, y + step_y
        yield x, y
        if step + 1 < steps:
            step_x, step_y = _turned_alike(sample(tangents, x, y), step_x, step_y)


def _turned_alike(tangents: Plane, before_x: Plane, before_y: Plane) -> tuple[Plane, Plane]:
    """The tangents with the sign that goes on in the direction that was walked before, at unit length."""
    here_x, here_y = tangents[..., 0], tangents[..., 1]
    ahead = np.where(here_x * before_x + here_y * before_y < 0, np.float32(-1), np.float32(1))
    # Between tangents of opposite sign the interpolated one vanishes: stay there rather than jump.
    length = np.maximum(cv2.magnitude(here_x, here_y), np.float32(0.25))
    return as_plane(ahead * here_x / length), as_plane(ahead * here_y / length)
