"""Each face of a picture drawn on its own and laid over the stylised surroundings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from app.imaging.align import (
    Affine,
    FaceCrop,
    bounds,
    extract,
    inverted,
    plan_crop,
    put_back,
    scaled,
    shifted,
    transform,
)
from app.imaging.blend import ellipse_weights, laid_over, matched
from app.imaging.portrait import portrait_box
from app.types import Checkpoint, Face, RgbImage, Weights, never_stop

__all__ = ["Painted", "StylizeFace", "paint_faces", "portrait_box"]

StylizeFace: TypeAlias = Callable[[RgbImage], RgbImage]
"""A square crop, (S, S, 3) uint8, to its drawing of the same size."""


@dataclass(frozen=True, slots=True)
class Painted:
    """image: (H, W, 3) uint8, as large as the surroundings. faces: how many were drawn into it."""

    image: RgbImage
    faces: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one face goes in the result.

    window: x0, y0, x1, y1 in pixels of the result. to_crop: from pixels of that window to the square [0, 1] of the
    crop. weights: (y1 - y0, x1 - x0) float32, how much of the face shows.
    """

    crop: FaceCrop
    window: tuple[int, int, int, int]
    to_crop: Affine
    weights: Weights


def paint_faces(
    picture: RgbImage,
    surroundings: RgbImage,
    faces: Sequence[Face],
    stylize_face: StylizeFace,
    *,
    face_size: int,
    checkpoint: Checkpoint = never_stop,
) -> Painted:
    """Draw ``faces`` anew, each from a ``face_size`` square of ``picture``, over ``surroundings``.

    picture: (H, W, 3) uint8, the upload at full resolution; ``faces`` are in its pixels. surroundings: (h, w, 3)
    uint8, the same view already stylised, at the size of the answer; it is left as it is.
    """
    places = [place for place in (_place(plan_crop(face), picture, surroundings) for face in faces) if place]
    total = _summed(places, surroundings.shape[0], surroundings.shape[1])
    image = surroundings.copy()
    for place in places:
        checkpoint()
        drawing = stylize_face(extract(picture, place.crop, face_size))
        _lay(image, surroundings, place, drawing, total)
    return Painted(image, len(places))


def _place(crop: FaceCrop, picture: RgbImage, surroundings: RgbImage) -> _Place | None:
    height, width = surroundings.shape[:2]
    to_result = scaled(crop.to_picture(1), width / picture.shape[1], height / picture.shape[0])
    corners = transform(to_result, np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    x0, y0, x1, y1 = bounds(corners, width, height)
    if x1 <= x0 or y1 <= y0:
        return None
    to_crop = inverted(shifted(to_result, -x0, -y0))
    to_unit = shifted(scaled(to_crop, 2.0, 2.0), -1.0, -1.0)
    return _Place(crop, (x0, y0, x1, y1), to_crop, ellipse_weights(to_unit, x1 - x0, y1 - y0))


def _summed(places: Sequence[_Place], height: int, width: int) -> Weights:
    """(height, width) float32: the faces' weights at each pixel, together."""
    total = np.zeros((height, width), np.float32)
    for place in places:
        x0, y0, x1, y1 = place.window
        total[y0:y1, x0:x1] += place.weights
    return total


def _lay(image: RgbImage, surroundings: RgbImage, place: _Place, drawing: RgbImage, total: Weights) -> None:
    """Blend one drawing into its window of ``image``. Where faces overlap, each gets its share of the whole."""
    x0, y0, x1, y1 = place.window
    to_drawing = scaled(place.to_crop, drawing.shape[1], drawing.shape[0])
    face = put_back(drawing, to_drawing, x1 - x0, y1 - y0).astype(np.float32)
    under = surroundings[y0:y1, x0:x1].astype(np.float32)
    share = np.asarray(place.weights / np.maximum(total[y0:y1, x0:x1], 1.0), np.float32)
    face = matched(face, under, place.weights)
    image[y0:y1, x0:x1] = laid_over(image[y0:y1, x0:x1], under, face, share)
