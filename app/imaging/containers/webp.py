"""WebP (RFC 9649): the canvas size, before libwebp allocates the canvas.

The pixels come through OpenCV: into three or four bytes each. Pillow goes through libwebp's decoder for animations,
which holds two canvases, for stills too; with its copies that is fifteen bytes a pixel.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import cv2
import numpy as np
import numpy.typing as npt

from app.errors import BrokenImage
from app.imaging.containers.upload import USUALLY_HELD, Raster, Upload, array_raster
from app.imaging.exif import orientation

_HELD_OF_FOUR: Final = 8.25
"""Bytes a pixel with alpha or without loss: libwebp's and OpenCV's, four each, and the reduced picture. Measured."""
_HELD_ANIMATED: Final = 12.25
"""With the second canvas of libwebp's decoder for animations. Measured."""
_MOST_CHUNKS: Final = 1 << 16
_STRIP_PIXELS: Final = 1 << 20


def open_upload(data: bytes) -> Upload:
    """Read the chunks' headers. Raises BrokenImage. OpenCV reads no metadata unless asked."""
    width, height = _canvas(data)
    chunks = _chunks(data)
    return Upload(
        width,
        height,
        lambda factor: _load(data, (width, height), factor),
        orientation(chunks.get(b"EXIF", b"")),
        chunks.get(b"ICCP"),
        _held(chunks),
    )


def _held(chunks: dict[bytes, bytes]) -> float:
    if b"ANMF" in chunks:
        return _HELD_ANIMATED
    return _HELD_OF_FOUR if chunks.keys() & {b"VP8L", b"ALPH"} else USUALLY_HELD


def _canvas(data: bytes) -> tuple[int, int]:
    kind, body = data[12:16], data[20:30]
    if len(body) < 10:
        raise BrokenImage
    if kind == b"VP8X":
        return int.from_bytes(body[4:7], "little") + 1, int.from_bytes(body[7:10], "little") + 1
    if kind == b"VP8 " and body[3:6] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", body, 6)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L" and body[0] == 0x2F:
        bits = int.from_bytes(body[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    raise BrokenImage


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The first chunk of each name; of those that hold neither EXIF nor a profile, only that they are there.

    Raises BrokenImage for more of them than any animation has: going over them would take seconds.
    """
    found: dict[bytes, bytes] = {}
    at, passed = 12, 0
    while at + 8 <= len(data):
        passed += 1
        if passed > _MOST_CHUNKS:
            raise BrokenImage
        name, length = struct.unpack_from("<4sI", data, at)
        found.setdefault(name, data[at + 8 : at + 8 + length] if name in (b"EXIF", b"ICCP") else b"")
        at += 8 + length + (length & 1)
    return found


def _load(data: bytes, size: tuple[int, int], factor: int) -> Raster:
    # The first frame of an animation, on its canvas. Unchanged: with alpha, and not turned by EXIF.
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.shape[1::-1] != size:
        raise BrokenImage
    transparent = pixels.shape[2] == 4
    _red_first(pixels, cv2.COLOR_BGRA2RGBA if transparent else cv2.COLOR_BGR2RGB)
    return array_raster(np.asarray(pixels, np.uint8), "RGBA" if transparent else "RGB", factor)


def _red_first(pixels: npt.NDArray[Any], conversion: int) -> None:
    # OpenCV copies what it is to convert where it lies, so it is given a strip at a time.
    step = max(1, _STRIP_PIXELS // pixels.shape[1])
    for top in range(0, len(pixels), step):
        strip = pixels[top : top + step]
        cv2.cvtColor(strip, conversion, dst=strip)
