"""GIF (GIF89a specification): the logical screen and the first frame's place on it."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Final

from PIL import GifImagePlugin, Image

from app.errors import BrokenImage
from app.imaging.containers.upload import Raster, Upload, pillow_raster

_HEADER_SIZE: Final = 13
_IMAGE: Final = 0x2C
_EXTENSION: Final = 0x21


def open_upload(data: bytes) -> Upload:
    """Read up to the first frame's descriptor. Raises BrokenImage where there is none.

    The size is found here, because Pillow enlarges the screen to hold the frame, and may fill a picture of that
    size, before anyone can look at it.
    """
    try:
        screen = struct.unpack_from("<HH", data, 6)
        left, top, width, height = struct.unpack_from("<HHHH", data, _first_frame(data) + 1)
    except (struct.error, IndexError):
        raise BrokenImage from None
    size = (max(screen[0], left + width), max(screen[1], top + height))
    return Upload(*size, lambda factor: _load(data, (left, top, left + width, top + height), factor))


def _first_frame(data: bytes) -> int:
    """Where the first image descriptor begins. Raises IndexError where the data end before it."""
    flags = data[10]
    at = _HEADER_SIZE + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    while data[at] != _IMAGE:
        at = _after_blocks(data, at + 2) if data[at] == _EXTENSION else at + 1
    return at


def _after_blocks(data: bytes, at: int) -> int:
    while data[at]:
        at += data[at] + 1
    return at + 1


def _load(data: bytes, frame: tuple[int, int, int, int], factor: int) -> Raster:
    image = GifImagePlugin.GifImageFile(BytesIO(data))
    if frame == (0, 0, *image.size):
        return pillow_raster(image, factor)
    # Decoded now, so that what is wrong is told now.
    image.load()
    left, _, right, _ = frame

    def rows(top: int, bottom: int) -> Image.Image:
        # The screen outside the frame is transparent, as in every browser; Pillow would fill it with colour 0. A strip
        # at a time: a few bytes may claim a vast screen.
        strip = Image.new("RGBA", (image.width, bottom - top))
        upper, lower = max(top, frame[1]), min(bottom, frame[3])
        if upper < lower:
            strip.paste(image.crop((left, upper, right, lower)).convert("RGBA"), (left, upper - top))
        return strip

    return Raster(*image.size, rows, factor)
