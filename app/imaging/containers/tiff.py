"""TIFF 6.0 and BigTIFF: the first directory, rewritten with nothing in it but what the pixels need.

The file's own directory may chain on to other pages, hold EXIF, or claim the same bytes under a thousand tags, each
of which Pillow would copy. The rewritten one is put at the end; the strips stay where they are.
"""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Final

import numpy as np
from PIL import Image, TiffImagePlugin

from app.errors import BrokenImage, UnsupportedImage
from app.imaging.containers.upload import USUALLY_HELD, Raster, Tone, Upload, pillow_raster
from app.imaging.exif import ORIENTATION_TAG, Entry, first_directory, read_layout, valid_orientation

_WIDTH: Final = 256
_HEIGHT: Final = 257
_BITS_PER_SAMPLE: Final = 258
_COMPRESSION: Final = 259
_PHOTOMETRIC: Final = 262
_STRIP_OFFSETS: Final = 273
_SAMPLES_PER_PIXEL: Final = 277
_ROWS_PER_STRIP: Final = 278
_PLANAR: Final = 284
_TILE_WIDTH: Final = 322
_TILE_LENGTH: Final = 323
_TILE_OFFSETS: Final = 324
_ICC_PROFILE: Final = 34675
_NOT_COMPRESSED: Final = 1
_WHITE_IS_ZERO: Final = 0
_REDUCED: Final = 1.5
"""Bytes a pixel of the reduced picture, its coverage, and the strips it is made of."""
_SEPARATE_PLANES: Final = 2

# Tags that describe how the samples are stored, by TIFF 6.0, its technical notes 1 and 2, and Adobe's for SampleFormat.
_PIXEL_TAGS: Final = frozenset(
    {_WIDTH, _HEIGHT, _BITS_PER_SAMPLE, _PHOTOMETRIC, _STRIP_OFFSETS, _SAMPLES_PER_PIXEL, _ROWS_PER_STRIP, _PLANAR}
    | {_TILE_WIDTH, _TILE_LENGTH, _TILE_OFFSETS}
    | {_COMPRESSION, 266, 279, 292, 293, 317, 320, 325, 332, 338, 339, 347}
    | {*range(512, 522), 529, 530, 531, 532}
)
# One number for each strip or tile: 16 x 16 px tiles over 50 megapixels are 195,000.
_MOST_VALUES: Final = 1 << 18
_BYTE_TYPES: Final = frozenset({1, 2, 6, 7})
_LARGEST_TILE: Final = 4096 * 4096
_STRIP_PIXELS: Final = 1 << 20


def open_upload(data: bytes) -> Upload:
    """Read the first directory. Raises BrokenImage, and UnsupportedImage for samples Pillow has no mode for."""
    layout = read_layout(data)
    if layout is None:
        raise BrokenImage
    tags: dict[int, Entry] = {}
    for entry in first_directory(data, layout):
        tags.setdefault(entry.tag, entry)
    kept = [tags[tag] for tag in sorted(tags.keys() & _PIXEL_TAGS)]
    _check(tags, kept, len(data))
    image = _open(_with_directory(data, layout.order, kept))
    return Upload(
        image.width,
        image.height,
        lambda factor: _load(image, tags, factor),
        valid_orientation(_integer(tags, ORIENTATION_TAG)),
        tags[_ICC_PROFILE].value if _ICC_PROFILE in tags else None,
        _held(tags, image.height),
    )


def _held(tags: dict[int, Entry], height: int) -> float:
    """Bytes a pixel: Pillow's four, and the more of a strip as libtiff unpacks it, which may be all of the picture, and
    of what comes after it. Measured alike."""
    if (_integer(tags, _COMPRESSION) or _NOT_COMPRESSED) == _NOT_COMPRESSED:
        return USUALLY_HELD
    samples, bits = _integer(tags, _SAMPLES_PER_PIXEL) or 1, _integer(tags, _BITS_PER_SAMPLE) or 1
    share = min(1, (_integer(tags, _ROWS_PER_STRIP) or height) / height) if _STRIP_OFFSETS in tags else 0
    return 4 + max(_REDUCED, samples * bits / 8 * share)


def _check(tags: dict[int, Entry], kept: list[Entry], length: int) -> None:
    """No value outside the file, no more of them than a file can hold, no tile larger than any writer makes."""
    if any(entry.size == 0 or entry.place + entry.size > length for entry in kept):
        raise BrokenImage
    if sum(entry.size for entry in kept) > length:
        raise BrokenImage
    if any(entry.count > _MOST_VALUES for entry in kept if entry.type not in _BYTE_TYPES):
        raise BrokenImage
    if (_integer(tags, _TILE_WIDTH) or 0) * (_integer(tags, _TILE_LENGTH) or 0) > _LARGEST_TILE:
        raise BrokenImage


def _pieces_needed(tags: dict[int, Entry]) -> int:
    """Strips or tiles that cover the picture; Pillow leaves black what none covers."""
    width, height = _integer(tags, _WIDTH) or 0, _integer(tags, _HEIGHT) or 0
    across = _integer(tags, _TILE_WIDTH) or width or 1
    down = _integer(tags, _TILE_LENGTH) or _integer(tags, _ROWS_PER_STRIP) or height or 1
    planes = (_integer(tags, _SAMPLES_PER_PIXEL) or 1) if _integer(tags, _PLANAR) == _SEPARATE_PLANES else 1
    return -(-width // across) * -(-height // down) * planes


def _integer(tags: dict[int, Entry], tag: int) -> int | None:
    return tags[tag].integer() if tag in tags else None


def _with_directory(data: bytes, order: str, entries: list[Entry]) -> bytes:
    """``data`` as a classic TIFF whose only directory holds ``entries``. No strip moves.

    Classic also where it was a BigTIFF: an upload is far below 4 GiB, and Pillow misses BigTIFF in Motorola order.
    Pillow and libtiff read 64-bit values there as well.
    """
    start = len(data) + (len(data) & 1)
    values_at = start + 2 + 12 * len(entries) + 4
    directory, values = struct.pack(order + "H", len(entries)), b""
    for entry in entries:
        value = entry.value
        if len(value) > 4:
            place = struct.pack(order + "I", values_at + len(values))
            values += value + b"\0" * (len(value) & 1)
            value = place
        directory += struct.pack(order + "HHI", entry.tag, entry.type, entry.count) + value.ljust(4, b"\0")
    mark = struct.pack(order + "2sHI", data[:2], 42, start)
    return b"".join((mark, data[len(mark) :], b"\0" * (start - len(data)), directory, b"\0" * 4, values))


def _open(stream: bytes) -> Image.Image:
    try:
        return TiffImagePlugin.TiffImageFile(BytesIO(stream))
    except SyntaxError as error:
        # The directory has passed our own reading: what Pillow misses is a mode for this kind of sample.
        raise UnsupportedImage from error


def _load(image: Image.Image, tags: dict[int, Entry], factor: int) -> Raster:
    pieces = max((tags[tag].count for tag in (_STRIP_OFFSETS, _TILE_OFFSETS) if tag in tags), default=0)
    if pieces < _pieces_needed(tags):
        raise BrokenImage
    raster = pillow_raster(image, factor)
    if not image.mode.startswith(("I", "F")):
        return raster
    bits = _integer(tags, _BITS_PER_SAMPLE) or 16
    tone = Tone(0, (1 << bits) - 1) if image.mode.startswith("I;16") else _measured_tone(raster)
    if _integer(tags, _PHOTOMETRIC) == _WHITE_IS_ZERO:
        tone = Tone(tone.high, tone.low)
    return pillow_raster(image, factor, tone=tone)


def _measured_tone(raster: Raster) -> Tone:
    """Black and white of 32-bit and floating-point samples, which no tag tells.

    White is the smallest of the usual scales (1, 8, 16, 32 bits) that holds all values; with negative values
    among them, the values' own range is used.
    """
    low, high = np.inf, -np.inf
    step = max(1, _STRIP_PIXELS // raster.width)
    for top in range(0, raster.height, step):
        values = np.asarray(raster.rows(top, min(top + step, raster.height)))
        finite = values[np.isfinite(values)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if low >= 0:
        return Tone(0, next((white for white in (1, 255, 65535, 2**32 - 1) if high <= white), high))
    return Tone(low, high)
