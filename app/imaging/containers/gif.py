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
_GRAPHIC_CONTROL: Final = 0xF9
_MOST_BLOCKS: Final = 1 << 17
"""Blocks of an extension have up to 255 bytes: 65,000 of them fill 16 MiB."""


def open_upload(data: bytes) -> Upload:
    """Read up to the first frame's descriptor. Raises BrokenImage where there is none.

    Of what comes before it only the last graphic control is passed on: comments may be many megabytes, and Pillow joins
    them. The size is found here, because Pillow enlarges the screen to hold the frame, and may fill a picture of that
    size, before anyone can look at it.
    """
    try:
        screen = struct.unpack_from("<HH", data, 6)
        frame, control = _first_frame(data)
        left, top, width, height = struct.unpack_from("<HHHH", data, frame + 1)
    except (struct.error, IndexError):
        raise BrokenImage from None
    size = (max(screen[0], left + width), max(screen[1], top + height))
    stream = data[: _after_palette(data)] + control + data[frame:]
    return Upload(*size, lambda factor: _load(stream, (left, top, left + width, top + height), factor))


def _after_palette(data: bytes) -> int:
    flags = data[10]
    return _HEADER_SIZE + (3 << (flags & 7) + 1 if flags & 0x80 else 0)


def _first_frame(data: bytes) -> tuple[int, bytes]:
    """Where the first image descriptor begins, and the graphic control extension before it.

    Raises IndexError where the data end before it, and BrokenImage where more comes before it than any writer puts
    there: going over it would take seconds.
    """
    at, start, control = _after_palette(data), 0, b""
    for _ in range(_MOST_BLOCKS):
        if data[at] == _IMAGE and not start:
            return at, control
        if start and not data[at]:
            control = data[start : at + 1] if data[start + 1] == _GRAPHIC_CONTROL else control
            at, start = at + 1, 0
        elif start:
            at += data[at] + 1
        elif data[at] == _EXTENSION:
            at, start = at + 2, at
        else:
            at += 1
    raise BrokenImage


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
