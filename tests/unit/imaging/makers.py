"""Files that no library writes, built byte by byte, and small pictures to put into them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from app.types import RgbImage

Samples = npt.NDArray[Any]
Chunk = tuple[bytes, bytes]

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6

# Adam7: (first column, first row, column step, row step) of the seven passes (PNG, third edition, 8.1).
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def scene(width: int = 48, height: int = 32) -> RgbImage:
    """A smooth picture without symmetry: red grows to the right, green downwards, the upper left corner is blue."""
    red = np.linspace(10, 240, width)[None, :].repeat(height, 0)
    green = np.linspace(30, 220, height)[:, None].repeat(width, 1)
    blue = np.full((height, width), 60.0)
    blue[: height // 3, : width // 3] = 200
    return np.stack((red, green, blue), -1).astype(np.uint8)


def gray_scene(width: int = 48, height: int = 32) -> npt.NDArray[np.uint8]:
    """The green of the scene, as (H, W)."""
    return np.ascontiguousarray(scene(width, height)[:, :, 1] // 2 + scene(width, height)[:, :, 0] // 2)


def saved(image: Image.Image, format: str, **parameters: object) -> bytes:
    """What Pillow writes."""
    file = BytesIO()
    image.save(file, format, **parameters)
    return file.getvalue()


def exif_block(orientation: int) -> bytes:
    """A TIFF block whose one tag is the orientation."""
    return b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 274, 3, 1, orientation, 0, 0)


# PNG


def png_chunk(name: bytes, body: bytes) -> bytes:
    """Length, name, body, checksum."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png_file(
    samples: Samples,
    depth: int,
    color: int,
    *,
    before: Sequence[Chunk] = (),
    after: Sequence[Chunk] = (),
    interlaced: bool = False,
) -> bytes:
    """A PNG of (H, W) or (H, W, C) samples of ``depth`` bits, with chunks ``before`` and ``after`` the pixels."""
    height, width = samples.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced)
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    lines = b"".join(_png_lines(samples[y::down, x::right], depth) for x, y, right, down in passes)
    chunks = [(b"IHDR", header), *before, (b"IDAT", zlib.compress(lines)), *after, (b"IEND", b"")]
    return PNG_SIGNATURE + b"".join(png_chunk(name, body) for name, body in chunks)


def _png_lines(samples: Samples, depth: int) -> bytes:
    if samples.size == 0:
        return b""
    rows = samples.reshape(len(samples), -1)
    if depth == 16:
        return b"".join(b"\0" + row.astype(">u2").tobytes() for row in rows)
    if depth == 8:
        return b"".join(b"\0" + row.astype(np.uint8).tobytes() for row in rows)
    bits = ((rows[:, :, None] >> np.arange(depth - 1, -1, -1)) & 1).reshape(len(rows), -1).astype(np.uint8)
    return b"".join(b"\0" + np.packbits(row).tobytes() for row in bits)


# TIFF

SHORT, LONG, LONG8 = 3, 4, 16
_TIFF_FORMATS = {1: "B", SHORT: "H", LONG: "I", LONG8: "Q"}


def tiff_file(
    tags: Mapping[int, tuple[int, Sequence[int]]], body: bytes, *, big: bool = False, order: str = "<", chain: int = 0
) -> bytes:
    """A TIFF whose pixel data ``body`` begin right after the header; ``chain`` is the pointer to a next directory."""
    word, counter, room = ("Q", "Q", 8) if big else ("I", "H", 4)
    start = tiff_body_offset(big) + len(body)
    mark = (b"II" if order == "<" else b"MM") + struct.pack(order + "H", 43 if big else 42)
    head = mark + (struct.pack(order + "HHQ", 8, 0, start) if big else struct.pack(order + "I", start))
    size = struct.calcsize(order + counter) + len(tags) * (20 if big else 12) + room
    entries, values = b"", b""
    for tag, (kind, numbers) in sorted(tags.items()):
        value = struct.pack(f"{order}{len(numbers)}{_TIFF_FORMATS[kind]}", *numbers)
        if len(value) > room:
            place = struct.pack(order + word, start + size + len(values))
            values += value
            value = place
        entries += struct.pack(order + "HH" + word, tag, kind, len(numbers)) + value.ljust(room, b"\0")
    directory = struct.pack(order + counter, len(tags)) + entries + struct.pack(order + word, chain)
    return head + body + directory + values


def tiff_body_offset(big: bool = False) -> int:
    """Where the pixel data of ``tiff_file`` begin."""
    return 16 if big else 8


def plain_tiff_tags(
    width: int, height: int, bits: Sequence[int], *, big: bool = False
) -> dict[int, tuple[int, Sequence[int]]]:
    """The tags of one uncompressed strip of gray or RGB samples."""
    size = width * height * sum(bits) // 8
    return {
        256: (LONG, [width]),
        257: (LONG, [height]),
        258: (SHORT, list(bits)),
        259: (SHORT, [1]),
        262: (SHORT, [1 if len(bits) == 1 else 2]),
        273: (LONG, [tiff_body_offset(big)]),
        277: (SHORT, [len(bits)]),
        278: (LONG, [height]),
        279: (LONG, [size]),
    }


# BMP


def bmp_file(
    width: int, height: int, bits: int, body: bytes, *, compression: int = 0, palette: bytes = b"", masks: bytes = b""
) -> bytes:
    """A BMP with a BITMAPINFOHEADER; a negative height means that the first row stored is the top one."""
    offset = 54 + len(masks) + len(palette)
    colors = len(palette) // 4
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(body), 0, 0, colors, 0)
    return b"BM" + struct.pack("<IHHI", offset + len(body), 0, 0, offset) + info + masks + palette + body


# ICC profiles


def icc_file(space: bytes, tags: Mapping[bytes, bytes], *, pcs: bytes = b"XYZ ", kind: bytes = b"mntr") -> bytes:
    """A version 2 profile (ICC.1:2001-04, 6.1) for the colour space ``space`` (four letters)."""
    start = 128 + 4 + 12 * len(tags)
    table, values = struct.pack(">I", len(tags)), b""
    for name, value in tags.items():
        table += name + struct.pack(">II", start + len(values), len(value))
        values += value.ljust(-(-len(value) // 4) * 4, b"\0")
    size = start + len(values)
    header = struct.pack(">I4sI4s4s4s", size, b"\0" * 4, 0x02100000, kind, space, pcs).ljust(36, b"\0") + b"acsp"
    header = header.ljust(68, b"\0") + _fixed(0.9642, 1.0, 0.8249)
    return header.ljust(128, b"\0") + table + values


def _fixed(*numbers: float) -> bytes:
    return struct.pack(f">{len(numbers)}i", *(round(number * 65536) for number in numbers))


def icc_xyz(x: float, y: float, z: float) -> bytes:
    """An XYZType tag."""
    return b"XYZ \0\0\0\0" + _fixed(x, y, z)


def icc_gamma(gamma: float) -> bytes:
    """A curveType tag of one exponent."""
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256))


def icc_curve(levels: npt.NDArray[np.float64]) -> bytes:
    """A curveType tag of samples in [0, 1]."""
    table = (levels * 65535).round().astype(">u2")
    return b"curv\0\0\0\0" + struct.pack(">I", len(table)) + table.tobytes()


def linear_gray_profile() -> bytes:
    """Gray whose samples are proportional to light."""
    return icc_file(b"GRAY", {b"desc": _description(), b"wtpt": icc_xyz(0.9642, 1, 0.8249), b"kTRC": icc_gamma(1.0)})


def srgb_like_profile() -> bytes:
    """sRGB as monitors and phones embed it: rounded primaries, and a curve of 256 samples."""
    level = np.linspace(0, 1, 256)
    return rgb_profile(icc_curve(np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)))


def linear_rgb_profile(order: str = "rgb") -> bytes:
    """RGB with samples proportional to light."""
    return rgb_profile(icc_gamma(1.0), order)


def rgb_profile(curve: bytes, order: str = "rgb") -> bytes:
    """RGB with sRGB's primaries (adapted to D50) and one curve for all; ``order`` permutes the channels."""
    columns = {"r": (0.4361, 0.2225, 0.0139), "g": (0.3851, 0.7169, 0.0971), "b": (0.1431, 0.0606, 0.7141)}
    tags = {b"desc": _description(), b"wtpt": icc_xyz(0.9642, 1, 0.8249)}
    for name, source in zip("rgb", order, strict=True):
        tags[name.encode() + b"XYZ"] = icc_xyz(*columns[source])
        tags[name.encode() + b"TRC"] = curve
    return icc_file(b"RGB ", tags)


def ink_profile(lightness: Callable[[float, float, float, float], tuple[float, float, float]]) -> bytes:
    """A CMYK profile whose table holds L*, a*, b* at the sixteen corners, as ``lightness(c, m, y, k)`` gives them."""
    corners = [(c, m, y, k) for c in (0, 1) for m in (0, 1) for y in (0, 1) for k in (0, 1)]
    grid = b""
    for corner in corners:
        light, a, b = lightness(*corner)
        grid += bytes((round(light * 2.55), round(a + 128), round(b + 128)))
    curve = bytes(range(256))
    head = b"mft1\0\0\0\0" + bytes((4, 3, 2, 0)) + _fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)
    table = head + curve * 4 + grid + curve * 3
    tags = {b"desc": _description(), b"wtpt": icc_xyz(0.9642, 1, 0.8249), b"A2B0": table}
    return icc_file(b"CMYK", tags, pcs=b"Lab ", kind=b"prtr")


def _description() -> bytes:
    text = b"test\0"
    return b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + b"\0" * (4 + 4 + 2 + 1 + 67)


def srgb_of_linear(light: Samples) -> npt.NDArray[np.float64]:
    """Samples in [0, 255] proportional to light, as sRGB samples in [0, 255] (IEC 61966-2-1)."""
    level = np.asarray(light, np.float64) / 255
    return 255 * np.where(level <= 0.0031308, level * 12.92, 1.055 * level ** (1 / 2.4) - 0.055)


# WebP


def webp_animation(frames: Sequence[tuple[int, int, RgbImage]], width: int, height: int) -> bytes:
    """A lossless animation (RFC 9649, 2.7.1.1) of (left, top, picture); left and top are even."""
    body = b"WEBP" + _riff_chunk(b"VP8X", b"\x12\0\0\0" + _uint24(width - 1, height - 1))
    body += _riff_chunk(b"ANIM", bytes(6))
    for left, top, picture in frames:
        file = saved(Image.fromarray(picture), "WEBP", lossless=True)
        place = _uint24(left // 2, top // 2, picture.shape[1] - 1, picture.shape[0] - 1, 100)
        body += _riff_chunk(b"ANMF", place + b"\0" + file[12:])
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _riff_chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) & 1)


def _uint24(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(3, "little") for number in numbers)


# JPEG


def jpeg_segment(marker: int, body: bytes) -> bytes:
    """Marker, length, body."""
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def with_segment(jpeg: bytes, marker: int, body: bytes) -> bytes:
    """The JPEG with one more segment, right after the start of image."""
    return jpeg[:2] + jpeg_segment(marker, body) + jpeg[2:]
