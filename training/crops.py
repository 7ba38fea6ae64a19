"""Squares cut out of photos: anywhere, or around a face as the service cuts it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from app.config import PROJECT_ROOT
from app.imaging.align import FaceCrop, extract, inverted, plan_crop, transform
from app.imaging.sizing import resize
from app.inference.faces import MediaPipeDetector
from app.inference.registry import ModelRegistry
from app.types import Detector, Face, Point, RgbImage

SIDE: Final = 512
"""Of the squares that the teacher draws, in px."""

LARGEST_SCALE: Final = 1.4
"""The photo's short side in squares at most: a larger one would show too little of it."""

MOST_ENLARGED: Final = 2.2
"""A photo is not blown up further than needed beyond this: there would be no detail to draw."""

LEAST_FACE: Final = 64
"""Width in px of a face worth learning from; the service draws smaller ones with the network for scenery."""

FACE_SIDES: Final = (0.88, 1.18)
"""Of the service's own side of a face's square: detectors differ by this much from look to look."""

FACE_SHIFT: Final = 0.04
"""Largest shift of a face's square, in sides."""

FACE_TURN: Final = 0.06
"""Largest turn of a face's square in radians: eyes are found to within 3 degrees."""

MOUTH_DROP: Final = 1.07
"""Eye distances from the eyes down to the mouth: 1.07 +- 0.06, by BlazeFace on 117 faces that look ahead."""

Cut = Callable[[RgbImage, np.random.Generator], RgbImage | None]
"""A photo and randomness to a square of SIDE px, or None where the photo has none to give."""


def random_square(photo: RgbImage, random: np.random.Generator, side: int = SIDE) -> RgbImage:
    """(side, side, 3) uint8: a random part of ``photo``, scaled at random, its lower rim seldom."""
    height, width = photo.shape[:2]
    shortest = min(width, height)
    scale = random.uniform(1.0, LARGEST_SCALE) * side / shortest
    if scale > MOST_ENLARGED:
        scale = side / shortest
    scaled = resize(photo, max(side, round(width * scale)), max(side, round(height * scale)))
    x, y = (int(random.integers(0, length - side, endpoint=True)) for length in (scaled.shape[1], scaled.shape[0]))
    return np.ascontiguousarray(scaled[y : y + side, x : x + side])


def middle_square(photo: RgbImage, side: int = SIDE) -> RgbImage:
    """(side, side, 3) uint8: the largest square in the middle of ``photo``."""
    height, width = photo.shape[:2]
    shortest = min(width, height)
    x, y = (width - shortest) // 2, (height - shortest) // 2
    return resize(np.ascontiguousarray(photo[y : y + shortest, x : x + shortest]), side, side)


def open_detector(models: Path = PROJECT_ROOT / "models") -> Detector:
    """The detector of the service. Raises DetectorUnavailable."""
    detectors = ModelRegistry.load(models).detectors
    return MediaPipeDetector(detectors["short_range"].path, detectors["full_range"].path)


def usable_faces(faces: Sequence[Face]) -> list[Face]:
    """Those of ``faces`` that are wide enough, largest first."""
    wide = [face for face in faces if face.box.width >= LEAST_FACE]
    return sorted(wide, key=lambda face: face.box.width, reverse=True)


def face_cutter(detector: Detector, side: int = SIDE) -> Cut:
    """A cut around one face of a photo, about as the service makes it."""

    def cut(photo: RgbImage, random: np.random.Generator) -> RgbImage | None:
        faces = usable_faces(detector.detect(photo))
        if not faces:
            return None
        crop = _shaken(plan_crop(faces[int(random.integers(len(faces)))]), random)
        return extract(photo, crop, side)

    return cut


def _shaken(crop: FaceCrop, random: np.random.Generator) -> FaceCrop:
    dx, dy = random.uniform(-FACE_SHIFT, FACE_SHIFT, 2) * crop.side
    side, turn = random.uniform(*FACE_SIDES), random.uniform(-FACE_TURN, FACE_TURN)
    return replace(crop, centre=crop.centre.moved(dx, dy), side=crop.side * side, angle=crop.angle + turn)


def features(face: Face, side: int = SIDE) -> tuple[Point, Point, Point]:
    """Right eye, left eye and mouth of ``face`` in pixels of the service's square of it.

    Detectors here give no mouth: it is taken to be MOUTH_DROP eye distances below the middle of the eyes.
    """
    to_square = inverted(plan_crop(face).to_picture(side))
    places = np.array([[eye.x, eye.y] for eye in (face.right_eye, face.left_eye)])
    right, left = transform(to_square, places)
    middle, distance = (right + left) / 2, float(np.hypot(*(left - right)))
    mouth = middle + np.array([0.0, MOUTH_DROP * distance])
    return _point(right), _point(left), _point(mouth)


def _point(place: npt.NDArray[np.float64]) -> Point:
    return Point(float(place[0]), float(place[1]))
