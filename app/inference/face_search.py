"""How faces are searched for with two small networks: propose on coarse pictures, confirm on a close one.

A *look* is one run of a detector network on one picture. The short-range network (128 px) is sure and exact on a face
that fills a good part of the picture; the full-range one (192 px) sees faces from about 12 of its own pixels up and
is less exact. So both propose, at a low threshold, and the short-range one confirms each proposal on an upright
square around it: what a spoon or a cloud claims at a distance it does not claim close by, the boxes of all faces come
from the same network, and a box is never cut at the picture's rim. docs/decisions/0002-faces.md has the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

import numpy as np

from app.imaging.align import FaceCrop, averaged, extract, eye_angle, square_box, transform
from app.types import Box, Face, Point, RgbImage

Look: TypeAlias = Callable[[RgbImage], list[Face]]
"""One run of one network; faces in pixels of the picture it was given."""

LEAST_WIDTH: Final = 32
"""Pixels of the upload: narrower faces have too little in them to be drawn anew."""

MOST_FACES: Final = 12

PROPOSAL_SCORE: Final = 0.3
"""Least score of a proposal. Lower brings hundreds of false ones, higher loses small faces."""

CONFIRMED_SCORE: Final = 0.75
"""Least score of a face seen close by. On 700 portraits it loses one; cups, clouds and noise stay below."""

_CLOSE_SIDE: Final = 2.2
"""Side of the square for confirming, in face widths."""

_CLOSE_PIXELS: Final = 192
_GLANCE_PIXELS: Final = 256
_BASE_PIXELS: Final = 1024
"""Longest side of the picture that everything is cut from."""

_TILE_PIXELS: Final = 256
_TILE_OVERLAP: Final = 0.2
_WIDEST: Final = 1.5
"""Ratio of the sides up to which one look at the whole serves."""

_MOST_PARTS: Final = 4
"""A tile is no smaller than this part of the longer side: bounds the looks at a strip of paper."""

_SMALL_SHARE: Final = 0.125
"""A face narrower than this share of a tile means that narrower ones may have been missed: look closer."""

_FINEST_TILE: Final = 12 * LEAST_WIDTH
"""Pixels of the upload: on a tile of this side the full-range network sees a face of LEAST_WIDTH."""

_FINER_PASSES: Final = 2
_SAME_FACE: Final = 0.3
"""Overlap (intersection over union) from which two boxes are one face."""

_INSIDE: Final = 0.6
"""Share of the smaller box inside the larger from which they are one face."""


def find_faces(picture: RgbImage, glance: Look, scan: Look) -> list[Face]:
    """Up to MOST_FACES faces at least LEAST_WIDTH wide in ``picture``, largest first, none twice.

    glance: the short-range network; scan: the full-range one.
    """
    if min(picture.shape[:2]) < LEAST_WIDTH / 2:
        return []
    base, sx, sy = _at_most(picture, _BASE_PIXELS)
    glanced = _moved_looks(base, [_whole(base)], glance, _GLANCE_PIXELS)
    faces = _confirmed(base, chain(glanced, _scan(base, _first_tile(base), scan)), glance, [])
    for tile in _finer_tiles(base, 1 / sx):
        if not _may_hide_more(faces, tile):
            break
        faces = _confirmed(base, _scan(base, tile, scan), glance, faces)
    return _largest([_moved(face, 1 / sx, 1 / sy, 0, 0) for face in faces])


def distinct(faces: Sequence[Face]) -> list[Face]:
    """``faces`` without second sightings of the same one; of two the surer stays."""
    kept: list[Face] = []
    for face in sorted(faces, key=lambda face: face.score, reverse=True):
        if not any(_same(face.box, other.box) for other in kept):
            kept.append(face)
    return kept


def _confirmed(base: RgbImage, proposals: Iterator[Face], glance: Look, known: Sequence[Face]) -> list[Face]:
    faces = list(known)
    for proposal in distinct([face for face in proposals if face.score >= PROPOSAL_SCORE]):
        if any(_same(proposal.box, face.box) for face in faces):
            continue
        face = _confirm(base, proposal, glance)
        if face is not None:
            faces = distinct([*faces, face])
    return faces


def _confirm(base: RgbImage, proposal: Face, glance: Look) -> Face | None:
    """The face as seen on an upright square around ``proposal``, in pixels of ``base``; None if there is none."""
    crop = _close_crop(proposal)
    if not _touches(crop, base):
        return None
    sightings = [face for face in glance(extract(base, crop, _CLOSE_PIXELS)) if _is_the_middle_one(face)]
    best = max(sightings, key=lambda face: face.score, default=None)
    if best is None or best.score < CONFIRMED_SCORE:
        return None
    return _seen_through(crop, best)


def _close_crop(face: Face) -> FaceCrop:
    centre = Point(face.box.x + face.box.width / 2, face.box.y + face.box.height / 2)
    return FaceCrop(centre=centre, side=_CLOSE_SIDE * face.box.width, angle=eye_angle(face))


def _touches(crop: FaceCrop, base: RgbImage) -> bool:
    height, width = base.shape[:2]
    return bool(0 <= crop.centre.x <= width and 0 <= crop.centre.y <= height)


def _is_the_middle_one(face: Face) -> bool:
    middle, reach = _CLOSE_PIXELS / 2, _CLOSE_PIXELS / 4
    x, y = face.box.x + face.box.width / 2, face.box.y + face.box.height / 2
    return abs(x - middle) < reach and abs(y - middle) < reach and face.box.width > reach


def _seen_through(crop: FaceCrop, face: Face) -> Face:
    """``face`` of the crop in pixels of the picture. The box stays upright: it is turned about its centre."""
    centre = (face.box.x + face.box.width / 2, face.box.y + face.box.height / 2)
    eyes = [(face.right_eye.x, face.right_eye.y), (face.left_eye.x, face.left_eye.y)]
    places = transform(crop.to_picture(_CLOSE_PIXELS), np.array([centre, *eyes], dtype=np.float64))
    middle, right_eye, left_eye = (Point(float(x), float(y)) for x, y in places)
    side = face.box.width * crop.side / _CLOSE_PIXELS
    return Face(square_box(middle, side), right_eye, left_eye, face.score)


def _scan(base: RgbImage, tile: int, scan: Look) -> Iterator[Face]:
    """Sightings on overlapping squares of ``tile`` pixels that cover ``base``."""
    height, width = base.shape[:2]
    squares = [(x, y, min(tile, width), min(tile, height)) for y in starts(height, tile) for x in starts(width, tile)]
    return _moved_looks(base, squares, scan, _TILE_PIXELS)


def starts(length: int, tile: int) -> list[int]:
    """Where tiles of ``tile`` pixels begin along ``length`` so that neighbours overlap by a fifth or more."""
    if tile >= length:
        return [0]
    count = 1 + int(np.ceil((length - tile) / (tile * (1 - _TILE_OVERLAP))))
    return [round(i * (length - tile) / (count - 1)) for i in range(count)]


def _moved_looks(
    base: RgbImage, windows: Sequence[tuple[int, int, int, int]], look: Look, pixels: int
) -> Iterator[Face]:
    for x, y, width, height in windows:
        small, sx, sy = _at_most(base[y : y + height, x : x + width], pixels)
        for face in look(small):
            yield _moved(face, 1 / sx, 1 / sy, x, y)


def _whole(base: RgbImage) -> tuple[int, int, int, int]:
    return 0, 0, base.shape[1], base.shape[0]


def _first_tile(base: RgbImage) -> int:
    """Photos are scanned whole; of a panorama the network would see too few pixels at once."""
    shorter, longer = sorted(base.shape[:2])
    return int(min(longer, max(_WIDEST * shorter, longer / _MOST_PARTS)))


def _finer_tiles(base: RgbImage, zoom: float) -> Iterator[int]:
    """Tile sides in pixels of ``base``, halving, as long as a face of LEAST_WIDTH could still have been too small."""
    tile = max(base.shape[:2])
    for _ in range(_FINER_PASSES):
        if min(tile, min(base.shape[:2])) * zoom <= _FINEST_TILE:
            return
        tile = (tile + 1) // 2
        yield tile


def _may_hide_more(faces: Sequence[Face], tile: int) -> bool:
    return len(faces) < MOST_FACES and any(face.box.width < 2 * tile * _SMALL_SHARE for face in faces)


def _largest(faces: Sequence[Face]) -> list[Face]:
    wide_enough = [face for face in faces if face.box.width >= LEAST_WIDTH]
    return sorted(wide_enough, key=lambda face: face.box.area, reverse=True)[:MOST_FACES]


def _moved(face: Face, sx: float, sy: float, dx: float, dy: float) -> Face:
    box = face.box
    return Face(
        Box(box.x * sx + dx, box.y * sy + dy, box.width * sx, box.height * sy),
        Point(face.right_eye.x * sx + dx, face.right_eye.y * sy + dy),
        Point(face.left_eye.x * sx + dx, face.left_eye.y * sy + dy),
        face.score,
    )


def _same(a: Box, b: Box) -> bool:
    across = max(0.0, min(a.x + a.width, b.x + b.width) - max(a.x, b.x))
    down = max(0.0, min(a.y + a.height, b.y + b.height) - max(a.y, b.y))
    shared = across * down
    return shared > _SAME_FACE * (a.area + b.area - shared) or shared > _INSIDE * min(a.area, b.area)


def _at_most(picture: RgbImage, longest: int) -> tuple[RgbImage, float, float]:
    """``picture`` with no side above ``longest``, and how much it was scaled by (x, y)."""
    return averaged(picture, max(1.0, max(picture.shape[:2]) / longest))
