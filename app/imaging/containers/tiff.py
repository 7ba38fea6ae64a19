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
from app.imaging.containers.upload import Raster, Tone, Upload, pillow_raster
from app.imaging.exif import ORIENTATION_TAG, Entry, Layout, first_directory, read_layout, valid_orientation

_WIDTH: Final = 256
_HEIGHT: Final = 257
_BITS_PER_SAMPLE: Final = 258
_PHOTOMETRIC: Final = 262
_TILE_WIDTH: Final = 322
_TILE_LENGTH: Final = 323
_ICC_PROFILE: Final = 34675
_WHITE_IS_ZERO: Final = 0

# Tags that describe how the samples are stored, by TIFF 6.0, its technical notes 1 and 2, and Adobe's for SampleFormat.
_PIXEL_TAGS: Final = frozenset(
    {_WIDTH, _HEIGHT, _BITS_PER_SAMPLE, _PHOTOMETRIC, _TILE_WIDTH, _TILE_LENGTH}
    | {259, 266, 273, 277, 278, 279, 284, 292, 293, 317, 320, 324, 325, 332, 338, 339, 347}
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
    image = _open(_with_directory(data, layout, kept))
    return Upload(
        image.width,
        image.height,
        lambda factor: _load(image, tags, factor),
        valid_orientation(_integer(tags, ORIENTATION_TAG)),
        tags[_ICC_PROFILE].value if _ICC_PROFILE in tags else None,
    )


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


def _integer(tags: dict[int, Entry], tag: int) -> int | None:
    return tags[tag].integer() if tag in tags else None


def _with_directory(data: bytes, layout: Layout, entries: list[Entry]) -> bytes:
    """``data`` with its header pointing at a new directory of ``entries``, after which no other follows."""
    start = len(data) + (len(data) & 1)
    directory = struct.pack(layout.order + layout.counter, len(entries)) + b"".join(entry.raw for entry in entries)
    pointer = 8 if layout.big else 4
    head = data[:pointer] + struct.pack(layout.order + layout.word, start)
    last = struct.pack(layout.order + layout.word, 0)
    return b"".join((head, data[len(head) :], b"\0" * (start - len(data)), directory, last))


def _open(stream: bytes) -> Image.Image:
    try:
        return TiffImagePlugin.TiffImageFile(BytesIO(stream))
    except SyntaxError as error:
        # The directory has passed our own reading: what Pillow misses is a mode for this kind of sample.
        raise UnsupportedImage from error


def _load(image: Image.Image, tags: dict[int, Entry], factor: int) -> Raster:
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
