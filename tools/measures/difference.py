"""Differences pixel by pixel, in levels."""

from __future__ import annotations

import math

import cv2
import numpy as np

from app.types import RgbImage


def max_error(a: RgbImage, b: RgbImage) -> float:
    """The largest difference of any channel, in levels."""
    return float(cv2.absdiff(a, b).max())


def mean_error(a: RgbImage, b: RgbImage) -> float:
    """The mean absolute difference over pixels and channels, in levels."""
    return float(cv2.absdiff(a, b).mean())


def psnr(a: RgbImage, b: RgbImage) -> float:
    """Peak signal-to-noise ratio in dB, of 255 levels; infinite for equal pictures."""
    square = float(np.square(cv2.absdiff(a, b), dtype=np.float64).mean())
    return math.inf if square == 0 else 10 * math.log10(255**2 / square)


def magnified(a: RgbImage, b: RgbImage, factor: int = 8) -> RgbImage:
    """A picture of the difference: its absolute value times ``factor``, black where A and B are equal."""
    return np.asarray(cv2.convertScaleAbs(cv2.absdiff(a, b), alpha=factor), np.uint8)
