"""Colour: soft steps of tone, bright and harmonised colours, cool shadows, warm highlights.

Source of the soft steps: H. Winnemöller, S. C. Olsen, B. Gooch, "Real-time video abstraction", SIGGRAPH 2006.
The grading is our own. L is 0 to 100, a and b are CIE Lab's (D65).
"""

import cv2
import numpy as np

from training.ink.lines import smooth_step
from training.ink.structure import Plane, as_plane, gaussian, gradients


def dark_gain(light: Plane) -> Plane:
    """What to multiply dark surroundings by, 1 to 2.5, so that their contrasts weigh as much as those in the light."""
    around = gaussian(light, 8.0, 16)
    return as_plane(1 / np.clip(np.float32(0.4) + around / np.float32(50), 0.4, 1))


def soft_steps(light: Plane, *, step: float, sharpness: float) -> Plane:
    """Lightness drawn together to multiples of `step`, with a transition the sharper the steeper the shading is.

    In a slow gradient, a sky, hardly anything happens, so no bands are seen.
    """
    by_x, by_y = gradients(gaussian(light, 2.0, 6))
    steep = smooth_step(as_plane((cv2.magnitude(by_x, by_y) - np.float32(0.25)) / np.float32(1.2)))
    nearest = np.floor(light / np.float32(step) + np.float32(0.5)) * np.float32(step)
    inside = (light - nearest) / np.float32(step)
    # Runs from -0.5 to 0.5 like `inside` itself, so the steps join without a jump.
    bent = np.tanh(np.float32(sharpness) * inside) / np.float32(2 * np.tanh(0.5 * sharpness))
    return as_plane(light + np.float32(step) * steep * (bent - inside))


def skin_likeness(a: Plane, b: Plane) -> Plane:
    """How near a hue is to skin's, 0 to 1. Skin of every tone lies near 50 degrees in the plane of a and b."""
    from_skin = np.arctan2(b, a) - np.float32(np.radians(50))
    coloured = smooth_step(as_plane(cv2.magnitude(a, b) / np.float32(15)))
    return as_plane(np.exp(-((from_skin / np.float32(0.35)) ** 2)) * coloured)


def tone_curve(light: Plane, lift: Plane) -> Plane:
    """Middle tones up by 25 times `lift`, black by 3, white kept; monotonous for a `lift` below 0.5."""
    unit = np.clip(light, 0, 100) / np.float32(100)
    return as_plane(np.float32(100) * (unit + lift * unit * (1 - unit) + np.float32(0.03) * (1 - unit) ** 4))


def colour(lab: Plane) -> Plane:
    """Lab as the style has it: brighter, pale colours fuller, shadows cool and highlights warm.

    Skin gets half of the lift, the colour and the shadows' tint, so that every skin keeps its tone. White stays white.
    """
    light, a, b = (as_plane(channel) for channel in cv2.split(lab))
    rest = as_plane(1 - np.float32(0.5) * skin_likeness(a, b))
    gain = 1 + np.float32(0.45) * rest * as_plane(cv2.exp(-cv2.magnitude(a, b) / np.float32(45)))
    light = tone_curve(light, as_plane(np.float32(0.28) * rest))
    shade = rest * smooth_step(as_plane((50 - light) / np.float32(50)))
    shine = smooth_step(as_plane((light - 60) / np.float32(30))) * smooth_step(as_plane((100 - light) / np.float32(10)))
    a, b = a * gain + 3.4 * shade - 0.3 * shine, b * gain - 7.5 * shade + 2 * shine
    return as_plane(cv2.merge([light, a, b]))
