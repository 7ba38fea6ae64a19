"""Making a changed file pass its container's own checks, so that what lies behind them is reached."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Final

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_MOST_PIXEL_BYTES: Final = 1 << 20


def repaired(data: bytes) -> bytes:
    """``data`` with a PNG's checksums, or the length that a RIFF file and a BMP state, made right."""
    if data.startswith(_PNG):
        return _with_checksums(data)
    if data.startswith(b"RIFF") and len(data) >= 12:
        return data[:4] + struct.pack("<I", (len(data) - 8) & 0xFFFFFFFF) + data[8:]
    return data


def _with_checksums(data: bytes) -> bytes:
    fixed, at = bytearray(data), len(_PNG)
    while at + 12 <= len(fixed):
        end = at + 8 + int.from_bytes(fixed[at : at + 4], "big")
        if end + 4 > len(fixed):
            break
        fixed[end : end + 4] = struct.pack(">I", zlib.crc32(memoryview(fixed)[at + 4 : end]))
        at = end + 4
    return bytes(fixed)


def with_png_rows_changed(data: bytes, change: Callable[[bytes], bytes]) -> bytes | None:
    """A PNG whose rows, with their filter bytes, have gone through ``change``; None for what has no such rows."""
    start = data.find(b"IDAT") - 4
    if not data.startswith(_PNG) or start < 8:
        return None
    length = int.from_bytes(data[start : start + 4], "big")
    inflater = zlib.decompressobj()
    try:
        rows = inflater.decompress(data[start + 8 : start + 8 + length], _MOST_PIXEL_BYTES)
    except zlib.error:
        return None
    body = zlib.compress(change(rows), 1) if rows else b""
    chunk = struct.pack(">I", len(body)) + b"IDAT" + body + struct.pack(">I", zlib.crc32(b"IDAT" + body))
    return data[:start] + chunk + data[start + 12 + length :]
