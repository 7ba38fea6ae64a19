"""Colour: soft steps of tone, bright and harmonised colours, cool shadows, warm highlights.

Source of the soft steps: H. Winnemöller, S. C. Olsen, B. Gooch, "Real-time video abstraction", SIGGRAPH 2006.
The grading is our own. L is 0 to 100, a and b are CIE Lab's (D65).
"""

import cv2
import numpy as np

from training.ink.lines import smooth_step
from training.ink.structure import Plane, gaussian, gradients


def soft_steps(light: Plane, *, step: float, sharpness: float) -> Plane:
    """Lightness drawn together to multiples of `step`, with a transition the sharper the steeper the shading is.

    In a slow gradient, a sky, hardly anything happens, so no bands are seen.
    """
    by_x, by_y = gradients(gaussian(light, 2.0, 6))
    steep = smooth_step((cv2.magnitude(by_x, by_y) - np.float32(0.25)) / np.float32(1.2))
    nearest = np.floor(light / np.float32(step) + np.float32(0.5)) * np.float32(step)
    inside = (light - nearest) / np.float32(step)
    # Runs from -0.5 to 0.5 like `inside` itself, so the steps join without a jump.
    bent = np.tanh(np.float32(sharpness) * inside) / np.float32(2 * np.tanh(0.5 * sharpness))
    return light + np.float32(step) * steep * (bent - inside)


def tone_curve(light: Plane) -> Plane:
    """Middle tones brighter, by 5 of 100 at most, so skin keeps its tone; black and white kept; monotonous."""
    unit = np.clip(light, 0, 100) / np.float32(100)
    return np.float32(100) * (unit + np.float32(0.20) * unit * (1 - unit))


def colour(lab: Plane) -> Plane:
    """Lab as the style has it: lightness by the curve, colours fuller where they were pale, tinted by lightness."""
    light, a, b = cv2.split(lab)
    chroma = cv2.magnitude(a, b)
    gain = np.float32(1.0) + np.float32(0.32) * cv2.exp(-chroma / np.float32(45))
    light = tone_curve(light)
    shade = smooth_step((np.float32(45) - light) / np.float32(45))
    shine = smooth_step((light - np.float32(60)) / np.float32(40))
    return cv2.merge([light, a * gain + 2.5 * shade - 0.3 * shine, b * gain - 5.5 * shade + 2.2 * shine])
