"""The squares that judge: made once, the same for every student of a teacher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from app.imaging.align import extract, plan_crop
from app.types import Detector, RgbImage
from tools.command import whole_file
from training.crops import SIDE, features, middle_square, usable_faces
from training.judge import Features, Kept
from training.photos import UnreadablePhoto, load_photo
from training.teacher import Draw

MOST_IN_A_GROUP: Final = 24
"""Squares of each folder of photos: more change the second decimal of no mean."""

Cut = Callable[[RgbImage], tuple[RgbImage, Features | None] | None]


def middle(photo: RgbImage) -> tuple[RgbImage, Features | None]:
    """The middle of the photo, in which no face is known."""
    return middle_square(photo), None


def largest_face(detector: Detector) -> Cut:
    """The square of the photo's largest face, exactly as the service cuts it, or None."""

    def cut(photo: RgbImage) -> tuple[RgbImage, Features | None] | None:
        faces = usable_faces(detector.detect(photo))
        if not faces:
            return None
        return extract(photo, plan_crop(faces[0]), SIDE), features(faces[0])

    return cut


def held_out_squares(photos: Sequence[Path], folder: Path, cut: Cut, draw: Draw, skipped: list[str]) -> list[Kept]:
    """At most MOST_IN_A_GROUP squares of each folder of ``photos`` with the teacher's drawing, kept in ``folder``.

    Photos that cannot be read are named in ``skipped``.
    """
    kept: list[Kept] = []
    for path in photos:
        if sum(square.group == path.parent.name for square in kept) < MOST_IN_A_GROUP:
            try:
                square = _square(path, folder, cut, draw)
            except UnreadablePhoto as error:
                skipped.append(str(error))
                continue
            kept += [square] if square is not None else []
    return kept


def _square(path: Path, folder: Path, cut: Cut, draw: Draw) -> Kept | None:
    found = cut(load_photo(path))
    if found is None:
        return None
    photo, face_features = found
    name = f"{path.parent.name}_{path.stem}"
    drawing = folder / f"{name}.npy"
    if not drawing.exists():
        with whole_file(drawing) as part:
            np.save(part, draw(photo))
    return Kept(name, path.parent.name, photo, np.load(drawing), face_features)
