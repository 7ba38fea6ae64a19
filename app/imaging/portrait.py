"""The head-and-shoulders square around one face: an avatar's frame."""

from __future__ import annotations

from typing import Final

from app.types import Box, Face

SIDE_FACTOR: Final = 2.6
"""Side of the portrait in face widths: hair above, shoulders below."""

FACE_HEIGHT: Final = 0.46
"""Where the middle of the face's box lies in the portrait, as a share of its height from above."""


def portrait_box(face: Face, width: int, height: int) -> Box:
    """The square in whole pixels around ``face``, upright, inside a picture of ``width`` x ``height``.

    It is moved rather than cut where it would reach outside, and shrunk where the picture is too small for it.
    """
    side = max(1, min(round(SIDE_FACTOR * face.box.width), width, height))
    middle_x = face.box.x + face.box.width / 2
    middle_y = face.box.y + face.box.height / 2
    x = min(max(0, round(middle_x - side / 2)), width - side)
    y = min(max(0, round(middle_y - FACE_HEIGHT * side)), height - side)
    return Box(x, y, side, side)
