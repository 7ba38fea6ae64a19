"""Cel paint: areas flat, edges crisp.

Sources: C. Tomasi, R. Manduchi, "Bilateral filtering for gray and color images", ICCV 1998; J. E. Kyprianidis,
J. Döllner, "Image abstraction by structure adaptive filtering", TPCG 2008 (bilateral filtering in one dimension across
the edges, then in one along them); S. Osher, L. Rudin, "Feature-oriented image enhancement using shock filters", 1990,
and J. E. Kyprianidis, H. Kang, "Image and video abstraction by coherence-enhancing filtering", CGF 2011 (the shock
that makes the edges crisp again).
"""

import cv2
import numpy as np

from training.ink.lines import smooth_step
from training.ink.structure import Flow, Plane, as_plane, gaussian, gradients, pixel_grid, sample


def smooth_by_flow(lab: Plane, flow: Flow, *, reach: int, tolerance: float, guide_blur: float = 0.0) -> Plane:
    """One round of bilateral filtering, across the edges and then along them.

    lab: (H, W, 3); reach: taps to either side; tolerance: the difference of colour (Lab) that still mixes;
    guide_blur: likeness is judged on the picture blurred by this many px, so that single noisy pixels mix too.
    """
    across = _filter_line(lab, _guide(lab, guide_blur), (-flow.along_y, flow.along_x), reach, tolerance)
    return _filter_line(across, _guide(across, guide_blur), (flow.along_x, flow.along_y), reach, tolerance)


def _guide(lab: Plane, blur: float) -> Plane:
    return gaussian(lab, blur, 2) if blur else lab


def _filter_line(lab: Plane, guide: Plane, step: tuple[Plane, Plane], reach: int, tolerance: float) -> Plane:
    """Each pixel mixed with those on a straight line through it, the more the nearer and the more alike they are."""
    # Steps from pixel row to pixel row (or column): bilinear samples then blur in one direction only.
    longest = np.maximum(np.abs(step[0]), np.abs(step[1]))
    step_x, step_y = step[0] / longest, step[1] / longest
    x, y = pixel_grid(*lab.shape[:2])
    total, weights = lab.copy(), np.ones(lab.shape[:2], np.float32)
    for tap in (sign * distance for distance in range(1, reach + 1) for sign in (1, -1)):
        there = as_plane(x + tap * step_x), as_plane(y + tap * step_y)
        other = sample(lab, *there)
        alike = other if guide is lab else sample(guide, *there)
        near = np.float32(0.5 * (tap / (0.5 * reach)) ** 2)
        weight = as_plane(cv2.exp(_squared_distance(alike, guide) * np.float32(-0.5 / tolerance**2) - near))
        total += other * weight[..., None]
        weights += weight
    return as_plane(total / weights[..., None])


def _squared_distance(one: Plane, other: Plane) -> Plane:
    """Summed over the channels: (H, W)."""
    difference = one - other
    return as_plane(np.einsum("hwc,hwc->hw", difference, difference))


def sharpen_edges(lab: Plane, *, sigma: float, push: float, threshold: float) -> Plane:
    """Edges made crisp: each pixel takes its colour from up to `push` px away, on its own side of the edge.

    The side is told by the second derivative of the lightness along its gradient, at the scale `sigma` px; curvatures
    below `threshold` (Lab units per px^2) move little, so that soft shading stays soft.
    """
    light = gaussian(lab[..., 0], sigma, round(3 * sigma))
    by_x, by_y = gradients(light)
    steepness = as_plane(cv2.magnitude(by_x, by_y)) + np.float32(1e-3)
    unit_x, unit_y = by_x / steepness, by_y / steepness
    (xx, xy), (_, yy) = gradients(as_plane(by_x)), gradients(as_plane(by_y))
    curvature = xx * unit_x**2 + 2 * xy * unit_x * unit_y + yy * unit_y**2
    move = np.float32(-push) * np.tanh(curvature / np.float32(threshold))
    x, y = pixel_grid(*light.shape)
    return sample(lab, as_plane(x + move * unit_x), as_plane(y + move * unit_y))


def bring_back_features(paint: Plane, photo: Plane, *, threshold: float, softness: float, calm: float) -> Plane:
    """Small features that the flattening took, eyes, teeth, letters: the photo where it differs more than all around.

    Both (H, W, 3); the numbers are as in `lines.ink_amount`, in Lab units.
    """
    lost = gaussian(as_plane(np.sqrt(_squared_distance(photo, paint))), 1.0, 2)
    around = gaussian(lost, 9.0, 18)
    excess = lost - np.float32(threshold) - np.float32(calm) * around
    share = smooth_step(as_plane(excess / np.float32(softness)))
    return as_plane(paint + share[..., None] * (photo - paint))
