"""One conversion from the upload's bytes to the answer's bytes: decode, plan, faces, stylise, blend, encode.

Holds no state: everything it works with comes in as a ``Kit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from app.errors import FacesUnavailable, NoFaceFound
from app.imaging.blend import mix
from app.imaging.decode import Decoded, DecodeLimits, decode
from app.imaging.encode import MIMETYPES, answer_format, check_size, encode, supports_alpha
from app.imaging.portrait import portrait_box
from app.imaging.sizing import plan_size, resize
from app.inference.painter import Painted, paint_faces, tell_nobody
from app.inference.stylizer import Stylizer
from app.options import MAX_STRENGTH, ConvertOptions
from app.stopwatch import Stopwatch
from app.telemetry.observer import CacheOutcome
from app.types import AlphaMask, Box, Checkpoint, Detector, Face, ImageFormat, RgbImage, StyleId, UploadFormat

Notice: TypeAlias = Literal["faces-off", "no-face"]

STAGES: Final = ("decode", "face", "infer", "blend", "encode")
FINISHING_STAGES: Final = ("blend", "encode")
"""Those of a picture that is drawn already."""

FINISHING_OPTIONS: Final = ("strength", "format", "quality")
"""Options that change nothing in what is drawn."""

WORKING_PIXELS: Final = 25_000_000
"""A photo above this is decoded at a half of its sides or less: one of 24 MP keeps every pixel for its faces, one of
48 MP costs 36 MB instead of 146."""

WORKING_SIDE: Final = 2500
"""Pixels that the longest side keeps at least when decoding is reduced: a square of a quarter of WORKING_PIXELS."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one conversion.

    image: the encoded picture. width, height: its sides in pixels. faces: how many were treated on their own.
    timings: seconds by stage, of those that were gone through for this answer: STAGES, and ``cache`` for asking and
    waiting there. notices: what the sender should know, as stable codes. cache: how the answer was come by; None where
    nothing is remembered.
    """

    image: bytes
    mimetype: str
    format: ImageFormat
    style: StyleId
    faces: int
    width: int
    height: int
    timings: Mapping[str, float]
    notices: tuple[Notice, ...]
    cache: CacheOutcome | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture that is drawn: what an answer of any strength, format and quality is made from.

    photo: (H, W, 3) uint8, the upload, or the portrait in it, at the answer's size. drawing: the same, drawn. alpha:
    (H, W) uint8, or None where it is opaque. upload: the kind of the upload. faces: how many were treated on their own.
    """

    photo: RgbImage
    drawing: RgbImage
    alpha: AlphaMask | None
    upload: UploadFormat
    style: StyleId
    faces: int
    notices: tuple[Notice, ...]


Keep: TypeAlias = Callable[[Drawn], None]
"""Is handed each drawing before an answer is made of it; changes nothing in it."""


def forget(drawn: Drawn) -> None:
    """Keeps no drawing."""


@dataclass(frozen=True, slots=True)
class Kit:
    """What a conversion works with.

    stylizer: the network of a style, loaded on first use. detector: None where faces cannot be found here. beside:
    runs what need not wait for the conversion's own thread. span: goes around each stage, for traces. tell_faces: is
    told how many faces are about to be drawn on their own.
    """

    limits: DecodeLimits
    stylizer: Callable[[StyleId], Stylizer]
    detector: Callable[[], Detector | None]
    beside: Executor
    span: Callable[[str], AbstractContextManager[object]] = nullcontext
    tell_faces: Callable[[int], None] = tell_nobody


@dataclass(frozen=True, slots=True)
class _Scene:
    """What is to be drawn.

    full: (H, W, 3) uint8 as decoded, for faces. small: the same view at the answer's size. alpha: at the answer's
    size.
    """

    full: RgbImage
    small: RgbImage
    alpha: AlphaMask | None


@dataclass(frozen=True, slots=True)
class _Found:
    """The faces to draw, in pixels of a scene's ``full``, and what to tell the sender."""

    faces: tuple[Face, ...]
    notices: tuple[Notice, ...]


_Search: TypeAlias = Callable[[], _Found]
"""Waits for what a search for faces has found."""


def works_in_full(options: ConvertOptions) -> bool:
    """Whether a very large photo is held in memory, and drawn, in all its pixels; ``options`` name a size."""
    return options.size == "original" or (options.size or 0) > WORKING_SIDE


def working_pixels(options: ConvertOptions) -> int | None:
    """Pixels to which a larger photo is decoded reduced; None for none."""
    return None if works_in_full(options) else WORKING_PIXELS


def convert_picture(
    data: bytes, options: ConvertOptions, kit: Kit, checkpoint: Checkpoint, keep: Keep = forget
) -> Result:
    """The answer to the upload ``data``; ``options`` name a style and a size.

    ``checkpoint`` is called between pieces of work; what it raises ends it. Raises the errors of app.imaging.decode,
    StyleUnavailable, InvalidOption for a format that cannot hold so large an answer and, for a portrait that cannot be
    had, NoFaceFound and FacesUnavailable.
    """
    watch = Stopwatch(STAGES, around=kit.span)
    drawn = _drawn(data, options, kit, watch, checkpoint)
    keep(drawn)
    return _finished(drawn, options, watch, checkpoint)


def finish_picture(drawn: Drawn, options: ConvertOptions, checkpoint: Checkpoint) -> Result:
    """As :func:`convert_picture`, from what is drawn already, by other ``options`` of the same style, face and size."""
    return _finished(drawn, options, Stopwatch(FINISHING_STAGES), checkpoint)


def _drawn(data: bytes, options: ConvertOptions, kit: Kit, watch: Stopwatch, checkpoint: Checkpoint) -> Drawn:
    with watch.stage("infer"):
        drawer = _Drawer.of(options, kit)
    with watch.stage("decode"):
        upload = decode(data, kit.limits, working_pixels=working_pixels(options))
    checkpoint()
    with _search(upload.rgb, options, kit, watch) as search:
        if options.face == "only":
            upload, search = _portrait(upload, search())
        with watch.stage("decode"):
            scene = _scene(upload, options)
        height, width = scene.small.shape[:2]
        # Refused before any work on it.
        check_size(answer_kind(options, upload.format), width, height)
        checkpoint()
        painted = drawer.draw(scene, search, watch, checkpoint)
        notices = search().notices
    return Drawn(scene.small, painted.image, scene.alpha, upload.format, drawer.style, painted.faces, notices)


def _finished(drawn: Drawn, options: ConvertOptions, watch: Stopwatch, checkpoint: Checkpoint) -> Result:
    height, width = drawn.photo.shape[:2]
    format = answer_kind(options, drawn.upload)
    check_size(format, width, height)
    with watch.stage("blend"):
        rgb = mix(drawn.photo, drawn.drawing, options.strength / MAX_STRENGTH)
    checkpoint()
    with watch.stage("encode"):
        image = encode(rgb, format, quality=options.quality, alpha=drawn.alpha if supports_alpha(format) else None)
    return Result(
        image=image,
        mimetype=MIMETYPES[format],
        format=format,
        style=drawn.style,
        faces=drawn.faces,
        width=width,
        height=height,
        timings=watch.seconds(),
        notices=drawn.notices,
    )


def answer_kind(options: ConvertOptions, upload: UploadFormat) -> ImageFormat:
    """The format of the answer to an upload of that kind."""
    return options.format or answer_format(upload)


@contextmanager
def _search(rgb: RgbImage, options: ConvertOptions, kit: Kit, watch: Stopwatch) -> Iterator[_Search]:
    """Look for faces beside the conversion: the detector's one thread fills what the networks leave idle.

    It ends with the ``with`` block at the latest: the photo that it holds is charged to this conversion.
    """
    # What is beside belongs to the same trace.
    search = kit.beside.submit(copy_context().run, _find_faces, rgb, options, kit)

    def found() -> _Found:
        with watch.stage("face"):
            return search.result()

    try:
        yield found
    finally:
        if not search.cancel():
            wait([search])


def _find_faces(rgb: RgbImage, options: ConvertOptions, kit: Kit) -> _Found:
    if options.face == "off":
        return _Found((), ())
    detector = kit.detector()
    if detector is None:
        if options.face == "only":
            raise FacesUnavailable
        return _Found((), ("faces-off",))
    with kit.span("face.search"):
        faces = tuple(detector.detect(rgb))
    if not faces and options.face == "only":
        raise NoFaceFound
    return _Found(faces, () if faces else ("no-face",))


def _portrait(upload: Decoded, found: _Found) -> tuple[Decoded, _Search]:
    """The square around the largest face as an upload of its own, and the faces in it."""
    frame = portrait_box(found.faces[0], upload.rgb.shape[1], upload.rgb.shape[0])
    alpha = None if upload.alpha is None else _cut(upload.alpha, frame)
    moved = _Found(tuple(face.moved(-frame.x, -frame.y) for face in found.faces), found.notices)
    return replace(upload, rgb=_cut(upload.rgb, frame), alpha=alpha), lambda: moved


def _scene(upload: Decoded, options: ConvertOptions) -> _Scene:
    longest = options.size if isinstance(options.size, int) else None
    width, height = plan_size(upload.rgb.shape[1], upload.rgb.shape[0], longest)
    return _Scene(
        full=upload.rgb,
        small=resize(upload.rgb, width, height),
        alpha=None if upload.alpha is None else resize(upload.alpha, width, height),
    )


def _cut(image: npt.NDArray[np.uint8], frame: Box) -> npt.NDArray[np.uint8]:
    x, y = round(frame.x), round(frame.y)
    return image[y : y + round(frame.height), x : x + round(frame.width)]


@dataclass(frozen=True, slots=True)
class _Drawer:
    """The networks of one style: one for the picture, one for each face."""

    style: StyleId
    picture: Stylizer
    face: Stylizer
    tell: Callable[[int], None]

    @classmethod
    def of(cls, options: ConvertOptions, kit: Kit) -> _Drawer:
        """The networks that ``options`` ask for, loaded on first use."""
        if options.style is None:
            raise ValueError("the engine names a style before it converts")
        own = kit.stylizer(options.style)
        surroundings = own.card.surroundings
        return cls(options.style, kit.stylizer(surroundings) if surroundings else own, own, kit.tell_faces)

    def draw(self, scene: _Scene, search: _Search, watch: Stopwatch, checkpoint: Checkpoint) -> Painted:
        """The whole of ``scene.small`` drawn, then each face that ``search`` has found over it."""

        def hand(stylizer: Stylizer) -> Callable[[RgbImage], RgbImage]:
            def stylize(image: RgbImage) -> RgbImage:
                with watch.stage("infer"):
                    return stylizer.stylize(image, checkpoint)

            return stylize

        one_network = self.face is self.picture
        surroundings = hand(self.picture)(scene.small)
        faces = search().faces
        with watch.stage("blend"):
            return paint_faces(
                scene.full,
                surroundings,
                faces,
                hand(self.face),
                face_size=self.face.card.face_size,
                ink=None if one_network else hand(self.picture),
                same_hand=one_network and self.face.card.kind == "scene",
                checkpoint=checkpoint,
                tell=self.tell,
            )
