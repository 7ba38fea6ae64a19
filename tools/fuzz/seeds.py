"""The files that fuzzing starts from: the case book, small pictures in every kind of file, and a few vast ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
import pillow_heif
from PIL import Image

from app.config import PROJECT_ROOT

# Files that no library writes are built byte by byte; the decoder's own tests do so already.
from tests.casebook import CASES
from tests.unit.imaging import makers
from tools.command import whole_file

PHOTO: Final = PROJECT_ROOT / "static" / "samples" / "astronaut.jpg"
SMALL: Final = (64, 48)
MOST_BYTES: Final = 16 << 20
"""An upload may not be larger."""
LARGE: Final = (8160, 6120)
"""49.9 of the 50 megapixels that an upload may have."""

_JPEG: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = MappingProxyType(
    {
        "baseline": ("RGB", {"icc_profile": makers.linear_rgb_profile(), "exif": makers.exif_block(6)}),
        "full-chroma": ("RGB", {"subsampling": 0}),
        "restarts": ("RGB", {"restart_marker_blocks": 2}),
        "progressive": ("RGB", {"progressive": True}),
        "gray": ("L", {}),
        "gray-progressive": ("L", {"progressive": True}),
        "cmyk": ("CMYK", {}),
        "cmyk-progressive": ("CMYK", {"progressive": True}),
    }
)
_WEBP: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = MappingProxyType(
    {
        "lossy": ("RGB", {"exif": makers.exif_block(8), "icc_profile": makers.srgb_like_profile()}),
        "lossy-alpha": ("RGBA", {}),
        "lossless": ("RGB", {"lossless": True}),
        "lossless-alpha": ("RGBA", {"lossless": True}),
    }
)
_AVIF: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = MappingProxyType(
    {
        "plain": ("RGB", {"speed": 10}),
        "full-chroma": ("RGB", {"speed": 10, "subsampling": "4:4:4"}),
        "alpha": ("RGBA", {"speed": 10}),
        "gray": ("L", {"speed": 10, "subsampling": "4:0:0"}),
        "turned": ("RGB", {"speed": 10, "exif": makers.exif_block(6)}),
    }
)
_TIFF: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = MappingProxyType(
    {
        "raw": ("RGB", {}),
        "lzw": ("RGBA", {"compression": "tiff_lzw"}),
        "deflate": ("RGB", {"compression": "tiff_adobe_deflate"}),
        "packbits": ("P", {"compression": "packbits"}),
        "jpeg": ("RGB", {"compression": "jpeg"}),
        "jpeg-ycc": ("YCbCr", {"compression": "jpeg"}),
        "fax": ("1", {"compression": "group4"}),
        "cmyk": ("CMYK", {"compression": "tiff_lzw"}),
        "gray16": ("I;16", {}),
        "float": ("F", {"compression": "tiff_lzw"}),
        "zstd": ("RGB", {"compression": "zstd"}),
    }
)
_MODES: Final = ("1", "L", "P", "LA", "RGB", "RGBA", "I;16")


@dataclass(frozen=True, slots=True)
class Seed:
    """A file as it is before anything is done to it."""

    name: str
    data: bytes


def case_book() -> list[Seed]:
    """The awkward pictures of tests/cases."""
    return [Seed(case.name, case.data) for case in CASES]


def small_pictures() -> list[Seed]:
    """One small photo in every kind of file, a few hundred bytes to a few kilobytes each."""
    photo = Image.open(PHOTO).convert("RGBA").resize(SMALL)
    photo.putalpha(Image.linear_gradient("L").resize(SMALL))
    kinds = {"JPEG": _JPEG, "WEBP": _WEBP, "AVIF": _AVIF, "TIFF": _TIFF}
    seeds = [
        Seed(f"{kind}.{format.lower()}", makers.saved(_in_mode(photo, mode), format, **parameters))
        for format, table in kinds.items()
        for kind, (mode, parameters) in table.items()
    ]
    seeds += [Seed(f"{mode}.{format.lower()}", data) for mode, format, data in _plain(photo)]
    return [*seeds, *_animations(photo), *_heifs(photo), *_built()]


def _in_mode(photo: Image.Image, mode: str) -> Image.Image:
    if mode == "I;16":
        return Image.fromarray(np.asarray(photo.convert("L"), np.uint16) * 257)
    return photo.convert("RGB").convert(mode) if mode in ("CMYK", "YCbCr", "P", "F") else photo.convert(mode)


def _plain(photo: Image.Image) -> Iterator[tuple[str, str, bytes]]:
    for mode in _MODES:
        yield mode, "PNG", makers.saved(_in_mode(photo, mode), "PNG")
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        yield mode, "BMP", makers.saved(_in_mode(photo, mode), "BMP")
    for mode in ("L", "P"):
        yield mode, "GIF", makers.saved(_in_mode(photo, mode), "GIF", transparency=3)


def _animations(photo: Image.Image) -> Iterator[Seed]:
    frames = [photo.rotate(angle) for angle in (0, 90, 180)]
    for format in ("GIF", "WEBP", "AVIF", "PNG"):
        data = makers.saved(frames[0], format, save_all=True, append_images=frames[1:], duration=100)
        yield Seed(f"animated.{format.lower()}", data)


def _heifs(photo: Image.Image) -> Iterator[Seed]:
    for mode in ("RGB", "RGBA", "L", "I;16"):
        yield Seed(f"{mode}.heic", _heif(_in_mode(photo, mode)))
    yield Seed("turned.heic", _heif(photo.convert("RGB"), exif=b"Exif\0\0" + makers.exif_block(6)))


def _heif(image: Image.Image, **parameters: object) -> bytes:
    file = BytesIO()
    pillow_heif.from_pillow(image).save(file, quality=50, enc_params={"preset": "ultrafast"}, **parameters)
    return file.getvalue()


def _built() -> Iterator[Seed]:
    scene, (width, height) = makers.scene(*SMALL), SMALL
    bits = (16,)
    big = makers.plain_tiff_tags(width, height, bits, big=True)
    yield Seed("interlaced.png", makers.png_file(scene, 8, makers.RGB, interlaced=True))
    yield Seed("deep.png", makers.png_file(scene.astype(np.uint16) * 257, 16, makers.RGB))
    yield Seed("big.tiff", makers.tiff_file(big, bytes(2 * width * height), big=True))
    yield Seed("runs.bmp", makers.bmp_file(8, 2, 8, b"\x08\x01\0\0\x08\x02\0\1", compression=1, palette=bytes(1024)))
    yield Seed("canvas.webp", makers.webp_animation([(2, 4, scene), (0, 0, scene)], width + 20, height + 20))


def large_pictures(folder: Path) -> list[Seed]:
    """Flat pictures just below the limit of pixels: few bytes, and all the work a decoder can be made to spend. And
    small pictures among as many empty parts as an upload can hold.

    Making some takes a minute, so they are kept in ``folder``.
    """
    return [Seed(name, _kept(folder / name, write)) for name, write in _LARGE.items()]


def _kept(path: Path, write: Callable[[], bytes]) -> bytes:
    if not path.exists():
        with whole_file(path) as part:
            part.write_bytes(write())
    return path.read_bytes()


def _flat(mode: str, format: str, **parameters: object) -> bytes:
    return makers.saved(Image.new(mode, LARGE), format, **parameters)


def _many_scans(mode: str) -> bytes:
    """A progressive JPEG whose last scan comes again and again, until it has nearly as many as are allowed."""
    data = _flat(mode, "JPEG", progressive=True)
    scan = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + scan * (49 - data.count(b"\xff\xda")) + data[-2:]


def _scene() -> Image.Image:
    return Image.fromarray(makers.scene(*SMALL))


def _crowded(data: bytes, at: int | None, part: bytes) -> bytes:
    """A small picture filled up with empty parts, at byte ``at`` or the end, to the largest size of an upload."""
    at = len(data) if at is None else at
    return data[:at] + part * ((MOST_BYTES - len(data)) // len(part)) + data[at:]


def _small_frame() -> bytes:
    """A GIF of a small frame on a vast screen."""
    data = makers.saved(Image.new("P", SMALL), "GIF")
    return data[:6] + LARGE[0].to_bytes(2, "little") + LARGE[1].to_bytes(2, "little") + data[10:]


_LARGE: Final[Mapping[str, Callable[[], bytes]]] = MappingProxyType(
    {
        "flat.jpeg": partial(_flat, "RGB", "JPEG"),
        "flat-progressive.jpeg": partial(_flat, "RGB", "JPEG", progressive=True, subsampling=0),
        "flat-cmyk.jpeg": partial(_flat, "CMYK", "JPEG"),
        "flat-cmyk-progressive.jpeg": partial(_flat, "CMYK", "JPEG", progressive=True),
        "many-scans.jpeg": partial(_many_scans, "RGB"),
        "many-scans-cmyk.jpeg": partial(_many_scans, "CMYK"),
        "flat.png": partial(_flat, "RGBA", "PNG", compress_level=1),
        "flat-gray-alpha.png": partial(_flat, "LA", "PNG", compress_level=1),
        "flat-palette.png": partial(_flat, "P", "PNG", compress_level=1, transparency=0),
        "flat-gray16.png": partial(_flat, "I;16", "PNG", compress_level=1),
        "flat.gif": partial(_flat, "P", "GIF"),
        "small-frame.gif": _small_frame,
        "flat-lossy.webp": partial(_flat, "RGB", "WEBP", method=0),
        "flat-lossy-alpha.webp": partial(_flat, "RGBA", "WEBP", method=0),
        "flat-lossless.webp": partial(_flat, "RGBA", "WEBP", method=0, lossless=True),
        "flat.avif": partial(_flat, "RGB", "AVIF", speed=10),
        "flat-alpha.avif": partial(_flat, "RGBA", "AVIF", speed=10),
        "flat.tiff": partial(_flat, "RGBA", "TIFF", compression="tiff_lzw"),
        "flat-float.tiff": partial(_flat, "F", "TIFF", compression="tiff_lzw"),
        "flat-cmyk.tiff": partial(_flat, "CMYK", "TIFF", compression="tiff_lzw"),
        "flat-fax.tiff": partial(_flat, "1", "TIFF", compression="group4"),
        "flat.heic": lambda: _heif(Image.new("RGB", LARGE)),
        "flat-alpha.heic": lambda: _heif(Image.new("RGBA", LARGE)),
        "chunks.png": lambda: _crowded(
            makers.png_file(makers.scene(), 8, makers.RGB), 33, makers.png_chunk(b"juNk", b"")
        ),
        "segments.jpeg": lambda: _crowded(makers.saved(_scene(), "JPEG"), 2, b"\xff\xfe\0\2"),
        "stuffing.jpeg": lambda: _crowded(makers.saved(_scene(), "JPEG"), 2, b"\xff\0"),
        "junk.gif": lambda: _crowded(makers.saved(_scene().convert("L"), "GIF"), 13 + 3 * 256, b"\1"),
        "comments.gif": lambda: _crowded(makers.saved(_scene().convert("L"), "GIF"), 13 + 3 * 256, b"\x21\xfe\1a\0"),
        "chunks.webp": lambda: _crowded(makers.saved(_scene(), "WEBP"), None, b"junk\0\0\0\0"),
        "boxes.avif": lambda: _crowded(makers.saved(_scene(), "AVIF"), None, b"\0\0\0\x08free"),
        "boxes.heic": lambda: _crowded(_heif(_scene()), None, b"\0\0\0\x08free"),
    }
)
