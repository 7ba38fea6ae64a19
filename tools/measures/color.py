"""Colour as people see it: sRGB to CIE L*a*b*, and CIEDE2000."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from app.types import RgbImage

Lab: TypeAlias = npt.NDArray[np.float64]
"""(..., 3) float64: L* in 0 to 100, a* and b* in about -128 to 128."""

# IEC 61966-2-1: from linear sRGB to CIE XYZ, white at D65.
_TO_XYZ: Final = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
_WHITE: Final = _TO_XYZ.sum(axis=1)

# CIE 15:2004: below this the cube root is replaced by a straight line.
_LINEAR_BELOW: Final = (6 / 29) ** 3

_BLUE: Final = 25.0**7


def color_shift(a: RgbImage, b: RgbImage) -> float:
    """Mean CIEDE2000 over all pixels. About 1 is the least that people see side by side, 2 to 3 plain."""
    return float(ciede2000(to_lab(a), to_lab(b)).mean())


def to_lab(rgb: RgbImage) -> Lab:
    """CIE L*a*b* (D65) of sRGB pixels (..., 3) uint8."""
    xyz = _linear_levels()[rgb] @ (_TO_XYZ / _WHITE[:, np.newaxis]).T
    root = np.where(xyz > _LINEAR_BELOW, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def _linear_levels() -> npt.NDArray[np.float64]:
    level = np.arange(256) / 255
    return np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)


def ciede2000(first: Lab, second: Lab) -> npt.NDArray[np.float64]:
    """(...) CIEDE2000 of two arrays of colours, kL = kC = kH = 1.

    Names and steps as in Sharma, Wu, Dalal: The CIEDE2000 color-difference formula: implementation notes,
    supplementary test data, and mathematical observations, Color Research and Application 30(1), 2005.
    """
    (l1, c1, h1), (l2, c2, h2) = _lch_prime(first, second)
    delta_h, mean_h = _hues(c1 * c2, h1, h2)
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    delta_big_h = 2 * np.sqrt(c1 * c2) * np.sin(delta_h / 2)
    s_l = 1 + 0.015 * (mean_l - 50) ** 2 / np.sqrt(20 + (mean_l - 50) ** 2)
    s_c, s_h = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * _t(mean_h)
    light, chroma, hue = (l2 - l1) / s_l, (c2 - c1) / s_c, delta_big_h / s_h
    return np.asarray(np.sqrt(light**2 + chroma**2 + hue**2 + _rotation(mean_c, mean_h) * chroma * hue), np.float64)


def _lch_prime(first: Lab, second: Lab) -> tuple[tuple[Lab, Lab, Lab], tuple[Lab, Lab, Lab]]:
    """L', C' and h' (radians, 0 to 2 pi) of both (equations 2 to 7)."""
    mean_c = (np.hypot(first[..., 1], first[..., 2]) + np.hypot(second[..., 1], second[..., 2])) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean_c**7 / (mean_c**7 + _BLUE))
    return _polar(first, stretch), _polar(second, stretch)


def _polar(lab: Lab, stretch: Lab) -> tuple[Lab, Lab, Lab]:
    light, a, b = np.moveaxis(lab, -1, 0)
    return light, np.hypot(stretch * a, b), np.arctan2(b, stretch * a) % (2 * np.pi)


def _hues(product: Lab, h1: Lab, h2: Lab) -> tuple[Lab, Lab]:
    """Difference and mean of the hues in radians, the short way round (equations 10 and 14)."""
    gray, turn = product == 0, 2 * np.pi
    difference = h2 - h1
    short = difference - turn * (difference > np.pi) + turn * (difference < -np.pi)
    total = h1 + h2
    around = np.where(total < turn, total + turn, total - turn)
    mean = np.where(np.abs(difference) > np.pi, around, total) / 2
    return np.where(gray, 0, short), np.where(gray, total, mean)


def _t(h: Lab) -> Lab:
    """Equation 15."""
    degrees = np.deg2rad
    return np.asarray(
        1
        - 0.17 * np.cos(h - degrees(30))
        + 0.24 * np.cos(2 * h)
        + 0.32 * np.cos(3 * h + degrees(6))
        - 0.20 * np.cos(4 * h - degrees(63)),
        np.float64,
    )


def _rotation(mean_c: Lab, mean_h: Lab) -> Lab:
    """R_T, which turns the ellipses in the blues (equations 16, 17 and 21)."""
    angle = np.deg2rad(30) * np.exp(-(((np.rad2deg(mean_h) - 275) / 25) ** 2))
    return np.asarray(-np.sin(2 * angle) * 2 * np.sqrt(mean_c**7 / (mean_c**7 + _BLUE)), np.float64)
