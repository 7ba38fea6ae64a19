"""Each face of a picture drawn on its own and laid over the stylised surroundings.

A face goes through one or two networks. The first draws its upright crop. The second, the ink, is the network of the
surroundings and goes over that drawing once more: lines and shading become those of everything around, the features
and the colours stay the first one's. docs/decisions/0002-faces.md tells what this brings and what else was tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import cv2
import numpy as np

from app.imaging.align import Affine, FaceCrop, extract, inverted, plan_crop, put_back, scaled, shifted
from app.imaging.blend import ellipse_weights, ellipse_window, shaded, stepped, toned_step
from app.types import Checkpoint, Face, RgbImage, Weights, never_stop

Stylize: TypeAlias = Callable[[RgbImage], RgbImage]
"""(H, W, 3) uint8 to its drawing of the same size."""

Window: TypeAlias = tuple[int, int, int, int]
"""x0, y0, x1, y1 in whole pixels."""

Slices: TypeAlias = tuple[slice, slice]
"""Rows and columns."""

INK_SIDE: Final = 448
"""Side of the drawing for the ink, in pixels. Smaller costs eyes their detail, larger thins the lines."""

INK_MARGIN: Final = 8
"""Pixels around the mask that the ink sees as well. 0 or 32 differ by a tenth of a level in the mean."""

FINE_AS_IT_IS: Final = 0.5
"""Share of the best face size from which a scenery network has drawn a face in the whole picture well enough."""


LEAST_DRAWN: Final = 48
"""Pixels of the upload: in a narrower face a face style finds too little to draw eyes from, and blurs it."""


def tell_nobody(faces: int) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Painted:
    """image: (h, w, 3) uint8, as large as the surroundings, and these themselves where no face was drawn anew.

    faces: how many are drawn in it, each as it should be.
    """

    image: RgbImage
    faces: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one face goes in the answer.

    coarse: the upload has few pixels of it. side: of its crop, in pixels of the answer. to_crop: from pixels of the
    window to the square [0, 1] of the crop. weights: (y1 - y0, x1 - x0) float32, how much of the face would show if
    it were the only one.
    """

    crop: FaceCrop
    coarse: bool
    side: float
    window: Window
    to_crop: Affine
    weights: Weights


def paint_faces(
    picture: RgbImage,
    surroundings: RgbImage,
    faces: Sequence[Face],
    draw_face: Stylize,
    *,
    face_size: int,
    ink: Stylize | None = None,
    same_hand: bool = False,
    checkpoint: Checkpoint = never_stop,
    tell: Callable[[int], None] = tell_nobody,
) -> Painted:
    """Draw ``faces`` anew, each from a ``face_size`` square of ``picture``, over ``surroundings``.

    picture: (H, W, 3) uint8, the upload at full resolution; ``faces`` are in its pixels. surroundings: (h, w, 3)
    uint8, the same view, stylised, at the size of the answer. Neither is changed. draw_face: the network for crops,
    called once a face. ink: the network of the surroundings, where that is another one; called once a face as well.
    same_hand: both are the same scenery network; a face that it saw large enough in the whole picture stays. tell: is
    told, before the first is drawn, how many are about to be.
    """
    places = _places(faces, picture, surroundings)
    small = [place for place in places if not (same_hand and place.side >= FINE_AS_IT_IS * face_size)]
    image = surroundings.copy() if small else surroundings
    scenery = draw_face if same_hand else ink
    tell(len(small))
    for place in small:
        checkpoint()
        if place.coarse and scenery is not None:
            drawing = scenery(extract(picture, place.crop, face_size // 2))
        else:
            drawing = draw_face(extract(picture, place.crop, face_size))
            drawing = drawing if ink is None else _inked(drawing, ink)
        _lay(image, surroundings, place, drawing, _summed(place, small))
    return Painted(image, len(places))


def _places(faces: Sequence[Face], picture: RgbImage, surroundings: RgbImage) -> list[_Place]:
    height, width = surroundings.shape[:2]
    sx, sy = width / picture.shape[1], height / picture.shape[0]
    places = [_place(face, sx, sy, width, height) for face in faces]
    return [place for place in places if place.weights.any()]


def _place(face: Face, sx: float, sy: float, width: int, height: int) -> _Place:
    crop = plan_crop(face)
    to_answer = scaled(crop.to_picture(1), sx, sy)
    x0, y0, x1, y1 = window = ellipse_window(to_answer, width, height)
    to_crop = inverted(shifted(to_answer, -x0, -y0))
    weights = ellipse_weights(to_crop, x1 - x0, y1 - y0)
    return _Place(crop, face.box.width < LEAST_DRAWN, crop.side * sx, window, to_crop, weights)


def _summed(place: _Place, places: Sequence[_Place]) -> Weights:
    """(h, w) float32 in the window of ``place``: all ``places``' weights together, at least 1, to divide a share by."""
    total = np.zeros_like(place.weights)
    for other in places:
        ours, theirs = _overlap(place.window, other.window)
        total[ours] += other.weights[theirs]
    return np.maximum(total, np.float32(1.0), out=total)


def _overlap(a: Window, b: Window) -> tuple[Slices, Slices]:
    """Where ``a`` and ``b`` lie over each other, as rows and columns of each; empty where they do not."""
    x0, y0, x1, y1 = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    x1, y1 = max(x0, x1), max(y0, y1)
    in_a, in_b = (np.s_[y0 - top : y1 - top, x0 - left : x1 - left] for left, top, *_ in (a, b))
    return in_a, in_b


def _inked(drawing: RgbImage, ink: Stylize) -> RgbImage:
    """``drawing``, at most INK_SIDE wide, with the lines and the shading that ``ink`` gives it under the mask."""
    side = min(INK_SIDE, drawing.shape[0])
    result = np.asarray(cv2.resize(drawing, (side, side), interpolation=cv2.INTER_AREA), np.uint8)
    x0, y0, x1, y1 = ellipse_window(np.array([[side, 0.0, 0.0], [0.0, side, 0.0]]), side, side, INK_MARGIN)
    part = np.ascontiguousarray(result[y0:y1, x0:x1])
    result[y0:y1, x0:x1] = shaded(part, ink(part))
    return result


def _lay(image: RgbImage, surroundings: RgbImage, place: _Place, drawing: RgbImage, total: Weights) -> None:
    """Lay one drawing into ``image``, toned to fit ``surroundings``; where faces overlap, each gets its share.

    total: (h, w) float32 in the window of ``place``, as by ``_summed``.
    """
    x0, y0, x1, y1 = place.window
    to_drawing = scaled(place.to_crop, drawing.shape[1], drawing.shape[0])
    face = put_back(drawing, to_drawing, x1 - x0, y1 - y0)
    step = toned_step(face, surroundings[y0:y1, x0:x1], place.weights)
    image[y0:y1, x0:x1] = stepped(image[y0:y1, x0:x1], step, place.weights / total)
