"""The process that decodes: ``python -m tools.fuzz.decoder``, fed and watched by tools.fuzz.subject.

Standard input: for each file its length (4 bytes, network order) and its bytes. Standard output: for each a line of
JSON, the fields of Outcome. A process of its own, so that what kills it kills nothing else. With --whole, very large
pictures are decoded in all their pixels, as for answers of the original size.
"""

from __future__ import annotations

import faulthandler
import hashlib
import importlib
import json
import resource
import struct
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import IO, Final, TypeAlias

import numpy as np

from app.conversion import WORKING_PIXELS
from app.errors import RequestError
from app.imaging.decode import Decoded, DecodeLimits, Seen, decode, look
from tools.fuzz.memory import fill_new_memory, forget_peak, limit_growth, peak_mib, resident_mib

ROOM_MIB: Final = 2048
"""Most memory it may ask for. Far above the aim: what lies between is seen and told, what lies above is a fault."""

_COMPARED_PIXELS: Final = 4_000_000
"""Larger pictures are not decoded a second time."""
_FILL: Final = 0x5A

_SLACK_MIB: Final = 32
"""By which decoding may exceed what a look at the header promised: for strips of a megapixel, and small pictures."""

WHOLE: Final = "--whole"
LIMITS: Final = DecodeLimits()

_DecodeOne: TypeAlias = Callable[[bytes], Decoded]
_Foresee: TypeAlias = Callable[[bytes], Seen]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file.

    answer: the container of a picture, or the code of an error of the tree. fault: what must not be, in words; empty
    where all is well. seconds: processor time, all threads together. mib: by how much memory grew at the most.
    """

    answer: str
    fault: str
    seconds: float
    mib: float


def main() -> None:
    """Decode what comes in, until nothing comes any more."""
    words = sys.argv[1:]
    working_pixels = None if WHOLE in words else WORKING_PIXELS
    stand_in = next((word for word in words if word != WHOLE), "")
    decode_one = _named(stand_in) if stand_in else partial(decode, limits=LIMITS, working_pixels=working_pixels)
    foresee = None if stand_in else partial(look, limits=LIMITS, working_pixels=working_pixels)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_growth(ROOM_MIB)
    while (data := _next_file(sys.stdin.buffer)) is not None:
        print(json.dumps(asdict(examine(data, decode_one, foresee))), flush=True)


def _named(name: str) -> _DecodeOne:
    module, _, function = name.partition(":")
    found: _DecodeOne = getattr(importlib.import_module(module), function)
    return found


def _next_file(stream: IO[bytes]) -> bytes | None:
    head = stream.read(4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack("!I", head)
    return stream.read(int(length))


def examine(data: bytes, decode_one: _DecodeOne, foresee: _Foresee | None) -> Outcome:
    """Decode ``data`` and see that the answer is one the service may give, and one that ``foresee`` has foreseen."""
    forget_peak()
    before, start = resident_mib(), time.process_time()
    picture, answer, fault = _decode(data, decode_one)
    seconds, mib = time.process_time() - start, peak_mib() - before
    if picture is not None:
        unforeseen = _unforeseen(data, picture, mib, foresee) if foresee else ""
        fault = _malformed(picture) or unforeseen or _unstable(data, picture, decode_one)
    return Outcome(answer, fault, round(seconds, 4), round(mib, 1))


def _decode(data: bytes, decode_one: _DecodeOne) -> tuple[Decoded | None, str, str]:
    """(the picture or None, the answer, the fault)."""
    try:
        picture = decode_one(data)
    except RequestError as error:
        denied = isinstance(error.__cause__, MemoryError) and peak_mib() > ROOM_MIB / 2
        return None, error.code, "asked for more memory than there is" if denied else ""
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return None, "", f"{type(error).__name__} in {place.name} ({place.filename.rpartition('/')[2]})"
    return picture, picture.format, ""


def _malformed(picture: Decoded) -> str:
    """What is wrong with the form of a picture."""
    rgb, alpha = picture.rgb, picture.alpha
    if rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3 or not rgb.flags.c_contiguous or not rgb.size:
        return f"a picture of {rgb.dtype} {rgb.shape}"
    if alpha is not None and (alpha.dtype != np.uint8 or alpha.shape != rgb.shape[:2]):
        return f"an alpha of {alpha.dtype} {alpha.shape} over {rgb.shape}"
    sides = ((picture.width, rgb.shape[1]), (picture.height, rgb.shape[0]))
    if not any(all(-(-stated // factor) == side for stated, side in sides) for factor in (1, 2, 4, 8)):
        return f"a picture of {rgb.shape} said to be {picture.width} x {picture.height}"
    return ""


def _unforeseen(data: bytes, picture: Decoded, mib: float, foresee: _Foresee) -> str:
    """What a look at the header, by which requests are let in, would have said otherwise."""
    try:
        seen = foresee(data)
    except RequestError as error:
        return f"a picture that a look refuses: {error.code}"
    if (seen.width, seen.height) != (picture.width, picture.height) or seen.decoded != picture.rgb.shape[1::-1]:
        return f"a picture of {picture.rgb.shape} that looked like {seen.decoded}"
    promised = seen.bytes / 2**20
    return f"more memory than the {seen.format}'s look promised" if mib > promised + _SLACK_MIB else ""


def _unstable(data: bytes, picture: Decoded, decode_one: _DecodeOne) -> str:
    """Whether the picture shows memory that nobody has written, which may be a part of somebody else's picture."""
    if picture.width * picture.height > _COMPARED_PIXELS:
        return ""
    fill_new_memory(_FILL)
    again, _, _ = _decode(data, decode_one)
    fill_new_memory(0)
    return "" if again is not None and _digest(again) == _digest(picture) else "a picture of unwritten memory"


def _digest(picture: Decoded) -> str:
    digest = hashlib.sha256(picture.rgb.tobytes())
    digest.update(b"" if picture.alpha is None else picture.alpha.tobytes())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
