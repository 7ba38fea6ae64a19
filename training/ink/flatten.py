"""Cel paint: areas flat, edges crisp.

Sources: C. Tomasi, R. Manduchi, "Bilateral filtering for gray and color images", ICCV 1998; J. E. Kyprianidis,
J. Döllner, "Image abstraction by structure adaptive filtering", TPCG 2008 (bilateral filtering in one dimension across
the edges, then in one along them); S. Osher, L. Rudin, "Feature-oriented image enhancement using shock filters", 1990,
and J. E. Kyprianidis, H. Kang, "Image and video abstraction by coherence-enhancing filtering", CGF 2011 (the shock
that makes the edges crisp again).
"""

import cv2
import numpy as np

from training.ink.structure import Flow, Plane, gaussian, gradients, pixel_grid, sample


def smooth_by_flow(lab: Plane, flow: Flow, *, reach: int, tolerance: float) -> Plane:
    """One round of bilateral filtering, across the edges and then along them.

    lab: (H, W, 3); reach: taps to either side; tolerance: the difference of colour (Lab) that still mixes.
    """
    across = _filter_line(lab, -flow.along_y, flow.along_x, reach, tolerance)
    return _filter_line(across, flow.along_x, flow.along_y, reach, tolerance)


def _filter_line(lab: Plane, step_x: Plane, step_y: Plane, reach: int, tolerance: float) -> Plane:
    """Each pixel mixed with those on a straight line through it, the more the nearer and the more alike they are."""
    # Steps from pixel row to pixel row (or column): bilinear samples then blur in one direction only.
    longest = np.maximum(np.abs(step_x), np.abs(step_y))
    step_x, step_y = step_x / longest, step_y / longest
    x, y = pixel_grid(*lab.shape[:2])
    total, weights = lab.copy(), np.ones(lab.shape[:2], np.float32)
    for tap in range(1, reach + 1):
        near = 0.5 * (tap / (0.5 * reach)) ** 2
        for signed in (tap, -tap):
            other = sample(lab, x + signed * step_x, y + signed * step_y)
            weight = cv2.exp(_squared_distance(other, lab) * np.float32(-0.5 / tolerance**2) - np.float32(near))
            total += other * weight[..., None]
            weights += weight
    return total / weights[..., None]


def _squared_distance(one: Plane, other: Plane) -> Plane:
    difference = one - other
    return np.einsum("hwc,hwc->hw", difference, difference)


def sharpen_edges(lab: Plane, *, sigma: float, push: float, threshold: float) -> Plane:
    """Edges made crisp: each pixel takes its colour from up to `push` px away, on its own side of the edge.

    The side is told by the second derivative of the lightness along its gradient, at the scale `sigma` px; curvatures
    below `threshold` (Lab units per px^2) move little, so that soft shading stays soft.
    """
    light = gaussian(lab[..., 0], sigma, round(3 * sigma))
    by_x, by_y = gradients(light)
    steepness = cv2.magnitude(by_x, by_y) + np.float32(1e-3)
    unit_x, unit_y = by_x / steepness, by_y / steepness
    (xx, xy), (_, yy) = gradients(by_x), gradients(by_y)
    curvature = xx * unit_x**2 + 2 * xy * unit_x * unit_y + yy * unit_y**2
    move = np.float32(-push) * np.tanh(curvature / np.float32(threshold))
    x, y = pixel_grid(*light.shape)
    return sample(lab, x + move * unit_x, y + move * unit_y)
