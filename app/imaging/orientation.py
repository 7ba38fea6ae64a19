"""Turning a picture upright by its EXIF orientation (CIPA DC-008, 4.6.4 A)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

_SIDEWAYS: Final = frozenset({5, 6, 7, 8})

_Pixels: TypeAlias = npt.NDArray[np.uint8]

_TURNS: Final[Mapping[int, Callable[[_Pixels], Any]]] = MappingProxyType(
    {
        2: lambda stored: cv2.flip(stored, 1),
        3: lambda stored: cv2.rotate(stored, cv2.ROTATE_180),
        4: lambda stored: cv2.flip(stored, 0),
        5: cv2.transpose,
        6: lambda stored: cv2.rotate(stored, cv2.ROTATE_90_CLOCKWISE),
        7: lambda stored: cv2.rotate(cv2.transpose(stored), cv2.ROTATE_180),
        8: lambda stored: cv2.rotate(stored, cv2.ROTATE_90_COUNTERCLOCKWISE),
    }
)


def upright_size(width: int, height: int, orientation: int) -> tuple[int, int]:
    """(width, height) after turning."""
    return (height, width) if orientation in _SIDEWAYS else (width, height)


def turn_upright(stored: _Pixels, orientation: int) -> _Pixels:
    """``stored``, (H, W) or (H, W, 3) uint8, turned and mirrored so that it stands upright.

    The orientation says where the first stored row and column lie in the picture: 6, the usual portrait, has its
    first row at the right side, so it is turned clockwise by a quarter.
    """
    turn = _TURNS.get(orientation)
    return stored if turn is None else np.asarray(turn(stored), np.uint8)
