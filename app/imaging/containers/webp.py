"""WebP (RFC 9649): the canvas size, before libwebp allocates the canvas.

The pixels come through OpenCV: into three or four bytes each, six at the peak. Pillow goes through libwebp's decoder
for animations, which holds two canvases, for stills too; with its copies that is fifteen bytes a pixel.
"""

from __future__ import annotations

import struct

import cv2
import numpy as np

from app.errors import BrokenImage
from app.imaging.containers.upload import Raster, Upload, array_raster
from app.imaging.exif import orientation


def open_upload(data: bytes) -> Upload:
    """Read the chunks' headers. Raises BrokenImage. OpenCV reads no metadata unless asked."""
    width, height = _canvas(data)
    chunks = _metadata(data)
    return Upload(
        width,
        height,
        lambda factor: _load(data, (width, height), factor),
        orientation(chunks.get(b"EXIF", b"")),
        chunks.get(b"ICCP"),
    )


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


def _metadata(data: bytes) -> dict[bytes, bytes]:
    """The first EXIF and ICCP chunks of an extended file."""
    found: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= len(data):
        name, length = struct.unpack_from("<4sI", data, at)
        if name in (b"EXIF", b"ICCP"):
            found.setdefault(name, data[at + 8 : at + 8 + length])
        at += 8 + length + (length & 1)
    return found


def _load(data: bytes, size: tuple[int, int], factor: int) -> Raster:
    # The first frame of an animation, on its canvas. Unchanged: with alpha, and not turned by EXIF.
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.shape[1::-1] != size:
        raise BrokenImage
    transparent = pixels.shape[2] == 4
    cv2.cvtColor(pixels, cv2.COLOR_BGRA2RGBA if transparent else cv2.COLOR_BGR2RGB, dst=pixels)
    return array_raster(np.asarray(pixels, np.uint8), "RGBA" if transparent else "RGB", factor)
