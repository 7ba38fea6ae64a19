"""Colours as sRGB: what an embedded ICC profile says, through LittleCMS.

The intent is perceptual, as in Firefox and Chrome: profiles made of a matrix and curves (cameras, displays) have one
rendering only, and printers' tables are made to be looked at this way, without clipping.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Final, TypeAlias

import numpy as np
from PIL import Image, ImageCms

ToSrgb: TypeAlias = Callable[[Image.Image], Image.Image]
"""A picture in mode L, RGB or CMYK -> the same in mode RGB and sRGB."""

MAX_PROFILE_BYTES: Final = 4 << 20
"""Larger profiles are ignored; those of printing presses have 0.5 to 2.5 MiB."""

_MODES: Final = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
# A conversion that moves no colour of the probe by more than this is rounding, and skipped.
_ROUNDING: Final = 1


def plain_to_srgb(image: Image.Image) -> Image.Image:
    """Without a profile: gray and RGB are sRGB already, and inks multiply, as in browsers."""
    return image if image.mode == "RGB" else image.convert("RGB")


def profile_to_srgb(icc: bytes | None, mode: str) -> ToSrgb:
    """The conversion for pictures of ``mode`` (L, RGB or CMYK) with the profile ``icc``.

    A profile that is broken, meant for another kind of picture, too large, or sRGB itself is ignored.
    """
    if not icc or len(icc) > MAX_PROFILE_BYTES:
        return plain_to_srgb
    try:
        profile = ImageCms.ImageCmsProfile(BytesIO(icc))
        source = _MODES.get(profile.profile.xcolor_space.strip())
        if source is None or (source != mode and (mode, source) != ("L", "RGB")):
            return plain_to_srgb
        transform = ImageCms.buildTransform(profile, ImageCms.createProfile("sRGB"), source, "RGB")
        convert = partial(_convert, transform=transform, mode=source)
        return plain_to_srgb if _changes_nothing(convert, source) else convert
    except (OSError, ValueError, TypeError, ImageCms.PyCMSError):
        return plain_to_srgb


def _convert(image: Image.Image, transform: ImageCms.ImageCmsTransform, mode: str) -> Image.Image:
    if image.mode != mode:
        image = image.convert(mode)
    return transform.apply(image)


def _changes_nothing(convert: ToSrgb, mode: str) -> bool:
    """Whether ``convert`` leaves colours as they are, tried on a grid of them. Most profiles met are sRGB."""
    if mode == "CMYK":
        return False
    levels = np.linspace(0, 255, 16 if mode == "RGB" else 256).astype(np.uint8)
    grid = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(64, 64, 3) if mode == "RGB" else levels[None]
    probe = Image.fromarray(grid)
    difference = np.asarray(convert(probe), np.int16) - np.asarray(plain_to_srgb(probe), np.int16)
    return int(np.abs(difference).max()) <= _ROUNDING
