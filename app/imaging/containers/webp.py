"""WebP (RFC 9649): the canvas size, before libwebp allocates the canvas."""

from __future__ import annotations

import struct
from io import BytesIO

from PIL import WebPImagePlugin

from app.errors import BrokenImage
from app.imaging.containers.upload import Upload, pillow_raster
from app.imaging.exif import orientation


def open_upload(data: bytes) -> Upload:
    """Read the first chunk. Raises BrokenImage. Pillow reads no metadata by itself, it only hands it out."""
    width, height = _canvas(data)
    chunks = _metadata(data)
    return Upload(
        width,
        height,
        lambda factor: pillow_raster(WebPImagePlugin.WebPImageFile(BytesIO(data)), factor),
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
