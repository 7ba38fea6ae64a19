"""PNG (W3C Recommendation, third edition): the chunks a picture needs, with all others left out.

Left out are text, which may inflate a thousandfold, and the further frames of an animation.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from PIL import Image, PngImagePlugin

from app.errors import BrokenImage
from app.imaging.color import MAX_PROFILE_BYTES
from app.imaging.containers.upload import Raster, Tone, Upload, pillow_raster
from app.imaging.exif import orientation

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_GRAY: Final = 0
_RGB: Final = 2
_PALETTE: Final = 3
_CHANNELS: Final = {_GRAY: 1, _RGB: 3, _PALETTE: 1, 4: 2, 6: 4}
# First column, first row, column step and row step of each pass.
_ADAM7: Final = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_MOST_CHUNKS: Final = 1 << 16
"""Pixels commonly come in chunks of 8 KiB or more: 2,048 of them fill 16 MiB."""
_INFLATED_AT_ONCE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Where a chunk lies in ``data``, from its length to its checksum."""

    name: bytes
    data: bytes
    start: int
    end: int

    @property
    def body(self) -> bytes:
        """What it holds."""
        return self.data[self.start + 8 : self.end - 4]

    @property
    def raw(self) -> bytes:
        """All of it."""
        return self.data[self.start : self.end]


@dataclass(frozen=True, slots=True)
class _Header:
    width: int
    height: int
    depth: int
    color: int
    interlace: int


def open_upload(data: bytes) -> Upload:
    """Read all chunks' headers. Raises BrokenImage where one the picture needs is cut short or fails its checksum."""
    chunks = list(_chunks(data))
    if not chunks or chunks[0].name != b"IHDR" or len(chunks[0].body) < 13:
        raise BrokenImage
    header = _Header(*struct.unpack_from(">IIBBxxB", chunks[0].body))
    if not any(chunk.name == b"IDAT" for chunk in chunks):
        raise BrokenImage
    stream = _pixels_only(chunks, header)
    key = _transparent_key(_first(chunks, b"tRNS"), header)
    return Upload(
        header.width,
        header.height,
        lambda factor: _load(stream, header, key, factor),
        orientation(_first(chunks, b"eXIf")),
        _profile(_first(chunks, b"iCCP")),
    )


def _chunks(data: bytes) -> Iterator[_Chunk]:
    """The chunks that are whole. A damaged one is fatal only if the picture needs it.

    Raises BrokenImage for more of them than any writer makes: going over them would take seconds.
    """
    at, passed = len(_SIGNATURE), 0
    while at + 8 <= len(data):
        passed += 1
        if passed > _MOST_CHUNKS:
            raise BrokenImage
        length, name = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        needed = name in (b"IHDR", b"PLTE", b"IDAT")
        whole = end <= len(data) and _checksum_holds(data, at, end)
        if needed and not whole:
            raise BrokenImage
        if name == b"IEND" or end > len(data):
            return
        if whole:
            yield _Chunk(name, data, at, end)
        at = end


def _checksum_holds(data: bytes, start: int, end: int) -> bool:
    with memoryview(data)[start + 4 : end - 4] as covered:
        return zlib.crc32(covered) == int.from_bytes(data[end - 4 : end], "big")


def _pixels_only(chunks: list[_Chunk], header: _Header) -> bytes:
    # A palette's transparency is part of the palette; a transparent gray or colour is handled below.
    needed = {b"IHDR", b"PLTE", b"IDAT"} | ({b"tRNS"} if header.color == _PALETTE else set())
    end = struct.pack(">I4sI", 0, b"IEND", zlib.crc32(b"IEND"))
    return b"".join((_SIGNATURE, *(chunk.raw for chunk in chunks if chunk.name in needed), end))


def _first(chunks: list[_Chunk], name: bytes) -> bytes:
    return next((chunk.body for chunk in chunks if chunk.name == name), b"")


def _profile(body: bytes) -> bytes | None:
    """The profile of an iCCP chunk, or None where it is damaged or would inflate beyond any real profile."""
    _, _, rest = body.partition(b"\0")
    inflater = zlib.decompressobj()
    try:
        profile = inflater.decompress(rest[1:], MAX_PROFILE_BYTES)
    except zlib.error:
        return None
    return profile if profile and inflater.eof else None


def _transparent_key(body: bytes, header: _Header) -> int | tuple[int, ...] | None:
    """The gray or the colour that means transparent, as Pillow stores it; tRNS holds it in the file's own depth."""
    count = {_GRAY: 1, _RGB: 3}.get(header.color, 0)
    if count == 0 or len(body) < 2 * count:
        return None
    stored = struct.unpack_from(f">{count}H", body)
    if header.depth == 16 and header.color == _GRAY:
        return int(stored[0])
    highest = (1 << header.depth) - 1
    levels = tuple(value >> 8 if header.depth == 16 else (value & highest) * 255 // highest for value in stored)
    return levels if count == 3 else levels[0]


def _load(stream: bytes, header: _Header, key: int | tuple[int, ...] | None, factor: int) -> Raster:
    image = PngImagePlugin.PngImageFile(BytesIO(stream))
    if image.size != (header.width, header.height):
        raise BrokenImage
    if _last_row_is_blank(image) and not _has_all_rows(stream, header):
        raise BrokenImage
    if image.mode == "I;16":
        return pillow_raster(image, factor, tone=Tone(0, 65535), key=key if isinstance(key, int) else None)
    if key is not None:
        image.info["transparency"] = key
    return pillow_raster(image, factor)


def _last_row_is_blank(image: Image.Image) -> bool:
    """Whether the last row may have been left blank; Pillow says nothing about missing rows."""
    if image.info.get("interlace"):
        return True
    return not any(image.crop((0, image.height - 1, image.width, image.height)).tobytes())


def _has_all_rows(stream: bytes, header: _Header) -> bool:
    """Whether the pixels inflate to as many bytes as the header asks for. Costs as much as decoding, and no memory."""
    inflater, length = zlib.decompressobj(), 0
    for chunk in _chunks(stream):
        rest = chunk.body if chunk.name == b"IDAT" else b""
        while rest and not inflater.eof:
            length += len(inflater.decompress(rest, _INFLATED_AT_ONCE))
            rest = inflater.unconsumed_tail
    return length >= _stored_bytes(header)


def _stored_bytes(header: _Header) -> int:
    """Bytes of all rows with their filter bytes, without or with Adam7 interlacing (8.1)."""
    bits = header.depth * _CHANNELS.get(header.color, 1)
    passes = _ADAM7 if header.interlace else ((0, 0, 1, 1),)
    sizes = [(-(-(header.width - x) // right), -(-(header.height - y) // down)) for x, y, right, down in passes]
    return sum(height * (1 + (width * bits + 7) // 8) for width, height in sizes if width > 0 and height > 0)
