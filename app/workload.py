"""What a conversion is expected to cost, by its upload's header and its options: pixels of work, bytes of memory.

The constants were measured: docs/performance/admission.md has the figures and the command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from app.admission.work import Work
from app.imaging.decode import Seen
from app.imaging.encode import answer_format, supports_alpha
from app.imaging.sizing import plan_size
from app.inference.card import ModelCard
from app.inference.painter import INK_SIDE
from app.inference.stylizer import plan_runs
from app.options import MAX_STRENGTH, ConvertOptions
from app.types import ImageFormat

DECODING_JPEG: Final = 0.02
DECODING_OTHERS: Final = 0.08
"""What a pixel of the upload costs, in pixels through a network: read, brought to size, searched for faces."""

FINISHING: Final = 0.1
"""What a pixel of the answer costs where the drawing is remembered, in pixels through a network: mixed and encoded."""

ALWAYS: Final = 30_000
"""What every conversion costs besides, in pixels through a network: some milliseconds."""

INKED_SHARE: Final = 0.6
"""How much of the ink's square the ellipse and its margin take."""

PHOTO_BYTES: Final = 4
"""For each pixel of the decoded photo, while it is drawn: three of its own, one of alpha."""

ANSWER_BYTES: Final[Mapping[ImageFormat, int]] = MappingProxyType({"jpeg": 12, "png": 13, "webp": 17, "avif": 50})
"""For each pixel of the answer: the photo at its size, the drawing and a copy of it that faces are painted on, of three
bytes each, and what the encoder holds."""

PHOTO_AT_SIZE: Final = 3
"""Of those, the photo."""

REMEMBERED_BYTES: Final = 9
"""Of those, the photo, the drawing and the copy of it, which finishing does not make."""

MIXED_BYTES: Final = 3
"""For each pixel of the answer, where drawing and photo are mixed."""

ALPHA_BYTES: Final = 8
"""For each pixel of an answer that may be transparent: its alpha, and what makes one picture of both."""

ALWAYS_BYTES: Final = 16 << 20
"""Of every conversion: crops of faces and their drawings, the detector's copies."""


@dataclass(frozen=True, slots=True)
class Hand:
    """The network that draws something: what it says of itself, and the bytes a run takes for each pixel."""

    card: ModelCard
    run_bytes: float


def expected_work(seen: Seen, options: ConvertOptions, picture: Hand, face: Hand, *, shape_step: int = 1) -> Work:
    """The work of converting what was ``seen`` with ``options``, which name a style and a size.

    picture, face: who draws the whole and who the faces, which may be the same. Faces are not known before: see
    :func:`face_pixels`.
    """
    width, height = _answer(seen, options)
    runs = plan_runs(picture.card, width, height, shape_step=shape_step)
    decoding = DECODING_JPEG if seen.format == "jpeg" else DECODING_OTHERS
    pixels = runs.pixels + decoding * seen.width * seen.height + ALWAYS
    whole, crop = runs.largest * picture.run_bytes, _largest_face(face.card) * face.run_bytes
    # Each network keeps what its runs took.
    run = max(whole, crop) if face.card is picture.card else whole + crop
    photo = PHOTO_BYTES * seen.decoded[0] * seen.decoded[1]
    answer = _answer_bytes(seen, options, whole=(width, height) == seen.decoded) * width * height
    peak = round(max(seen.bytes, photo + answer + run)) + ALWAYS_BYTES
    return Work(f"{options.style} {options.face}", pixels, peak)


def finishing_work(width: int, height: int, format: ImageFormat, *, alpha: bool) -> Work:
    """The work of making an answer of a picture that is drawn already, and whose drawing is remembered."""
    each = ANSWER_BYTES[format] - REMEMBERED_BYTES + MIXED_BYTES + (ALPHA_BYTES if alpha else 0)
    pixels = FINISHING * width * height + ALWAYS
    return Work(f"finish {format}", pixels, each * width * height, quick=True)


def _answer_bytes(seen: Seen, options: ConvertOptions, *, whole: bool) -> int:
    format = options.format or answer_format(seen.format)
    mixed = MIXED_BYTES if options.strength < MAX_STRENGTH else 0
    # A JPEG has no alpha; of other kinds it is not known before they are decoded.
    alpha = ALPHA_BYTES if supports_alpha(format) and seen.format != "jpeg" else 0
    # The photo at the size of the whole is the photo, which is counted already.
    return ANSWER_BYTES[format] + mixed + alpha - (PHOTO_AT_SIZE if whole else 0)


def _answer(seen: Seen, options: ConvertOptions) -> tuple[int, int]:
    """(width, height) of the answer; of a portrait, of which little is known before, the most it can have."""
    width, height = seen.decoded
    if options.face == "only":
        width = height = min(width, height)
    return plan_size(width, height, options.size if isinstance(options.size, int) else None)


def face_pixels(picture: ModelCard, face: ModelCard) -> float:
    """What drawing one face on its own costs, in pixels through a network."""
    ink = 0.0 if picture is face else INKED_SHARE * INK_SIDE**2
    return _largest_face(face) + ink


def _largest_face(card: ModelCard) -> int:
    return plan_runs(card, card.face_size, card.face_size).pixels
