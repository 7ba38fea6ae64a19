"""Files cut short or damaged: refused, or shown whole; never half a picture, never any error but ours."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from io import BytesIO

import numpy as np
import pillow_heif
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from app.errors import BrokenImage, RequestError
from app.imaging.decode import DecodeLimits, decode
from app.types import RgbImage
from tests.casebook import CASES
from tests.unit.imaging.compare import assert_same
from tests.unit.imaging.makers import (
    PALETTE,
    RGB,
    bmp_file,
    exif_block,
    jpeg_segment,
    linear_rgb_profile,
    plain_tiff_tags,
    png_chunk,
    png_file,
    saved,
    scene,
    tiff_file,
    with_segment,
)

LIMITS = DecodeLimits()


def read(data: bytes) -> RgbImage:
    return decode(data, LIMITS).rgb


def heic() -> bytes:
    file = BytesIO()
    pillow_heif.from_pillow(Image.fromarray(scene())).save(file, quality=90, exif=b"Exif\0\0" + exif_block(6))
    return file.getvalue()


def animated(format: str) -> bytes:
    frames = [Image.fromarray(np.roll(scene(), shift, axis=1)) for shift in (0, 16, 32)]
    return saved(frames[0], format, save_all=True, append_images=frames[1:], duration=100)


WRITERS: dict[str, Callable[[], bytes]] = {
    "baseline.jpg": lambda: saved(Image.fromarray(scene()), "JPEG", icc_profile=linear_rgb_profile()),
    "progressive.jpg": lambda: saved(Image.fromarray(scene()), "JPEG", progressive=True),
    "cmyk.jpg": lambda: saved(Image.fromarray(scene()).convert("CMYK"), "JPEG"),
    "rgb.png": lambda: png_file(scene(), 8, RGB, before=[(b"eXIf", exif_block(3))]),
    "interlaced.png": lambda: png_file(scene(), 8, RGB, interlaced=True),
    "palette.png": lambda: png_file(
        scene()[:, :, 0] % 4, 2, PALETTE, before=[(b"PLTE", bytes(range(12))), (b"tRNS", b"\0\x80")]
    ),
    "lossy.webp": lambda: saved(Image.fromarray(scene()), "WEBP", exif=exif_block(6)),
    "lossless.webp": lambda: saved(Image.fromarray(scene()).convert("RGBA"), "WEBP", lossless=True),
    "animated.webp": lambda: animated("WEBP"),
    "still.gif": lambda: saved(Image.fromarray(scene()), "GIF"),
    "animated.gif": lambda: animated("GIF"),
    "plain.bmp": lambda: saved(Image.fromarray(scene()), "BMP"),
    "runs.bmp": lambda: bmp_file(8, 2, 8, b"\x08\x01\0\0\x08\x02\0\1", compression=1, palette=bytes(1024)),
    "plain.tif": lambda: tiff_file(plain_tiff_tags(48, 32, (8, 8, 8)), scene().tobytes()),
    "lzw.tif": lambda: saved(Image.fromarray(scene()), "TIFF", compression="tiff_lzw"),
    "jpeg.tif": lambda: saved(Image.fromarray(scene()), "TIFF", compression="jpeg"),
    "big.tif": lambda: tiff_file(plain_tiff_tags(48, 32, (16,), big=True), bytes(48 * 32 * 2), big=True),
    "still.avif": lambda: saved(Image.fromarray(scene()), "AVIF"),
    "animated.avif": lambda: animated("AVIF"),
    "still.heic": heic,
}


@cache
def sample(name: str) -> bytes:
    return WRITERS[name]()


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_cut_anywhere_is_refused_or_shown_whole(name: str) -> None:
    """Whole, because trailers and metadata may be missing without harm; the end of the pixels may not."""
    data = sample(name)
    whole = decode(data, LIMITS)
    refused = 0
    for length in sorted({*range(1, len(data), max(1, len(data) // 120)), *range(len(data) - 12, len(data))}):
        try:
            picture = decode(data[:length], LIMITS)
        except RequestError:
            refused += 1
        else:
            same_pixels = np.array_equal(np.sort(picture.rgb, axis=None), np.sort(whole.rgb, axis=None))
            assert same_pixels, f"a different picture from the first {length} of {len(data)} bytes"
    assert refused > 20


# JPEG


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("name", ["baseline.jpg", "progressive.jpg", "cmyk.jpg"])
def test_a_cut_jpeg_with_an_end_marker_put_on_is_still_refused(name: str, share: float) -> None:
    """Apps that save what has arrived do this; libjpeg then fills the rest with gray and only warns."""
    data = sample(name)
    scan = data.index(b"\xff\xda")
    with pytest.raises(BrokenImage):
        read(data[: scan + int((len(data) - scan) * share)] + b"\xff\xd9")


def test_a_jpeg_without_its_end_marker_is_whole() -> None:
    data = sample("baseline.jpg")
    assert np.array_equal(read(data[:-2]), read(data))


@pytest.mark.parametrize("trailer", [b"\0" * 1000, b"\xff\xd8\xff\xe0junk", b"\xff\xda" * 500])
def test_what_follows_a_jpeg_is_ignored(trailer: bytes) -> None:
    data = sample("baseline.jpg")
    assert np.array_equal(read(data + trailer), read(data))


def test_stray_bytes_before_the_end_marker_are_forgiven() -> None:
    data = sample("baseline.jpg")
    assert np.array_equal(read(data[:-2] + b"\0\0\0\0" + data[-2:]), read(data))


def test_stray_and_fill_bytes_between_segments_are_forgiven() -> None:
    data = sample("baseline.jpg")
    assert np.array_equal(read(data[:2] + b"\xff\xff\xff" + data[3:]), read(data))
    assert np.array_equal(read(data[:2] + b"\0\0" + data[2:]), read(data))


def test_segments_of_metadata_may_hold_anything() -> None:
    data = sample("baseline.jpg")
    for marker in (0xE1, 0xE2, 0xEC, 0xED, 0xFE):
        assert np.array_equal(read(with_segment(data, marker, b"MPF\0II*\0\xff\xff\xff\xff" * 9)), read(data))


@pytest.mark.parametrize("data", [b"\xff\xd8", b"\xff\xd8\xff", b"\xff\xd8\xff\xd9", b"\xff\xd8" + b"\xff" * 99])
def test_a_jpeg_of_nothing_is_broken(data: bytes) -> None:
    with pytest.raises(BrokenImage):
        read(data)


def test_a_scan_without_a_frame_is_broken() -> None:
    with pytest.raises(BrokenImage):
        read(b"\xff\xd8" + jpeg_segment(0xDA, b"\1\1\0\0\x3f\0") + b"\0" * 9)


# PNG


def test_a_flipped_bit_in_png_pixels_is_noticed() -> None:
    data = sample("rgb.png")
    at = data.index(b"IDAT") + 20
    with pytest.raises(BrokenImage):
        read(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])


def test_a_flipped_bit_in_png_metadata_is_not_minded() -> None:
    """A chunk whose checksum fails is left out, so the orientation in it does not count."""
    data = png_file(scene(), 8, RGB, before=[(b"tEXt", b"Comment\0hello"), (b"eXIf", exif_block(6))])
    checksum = data.index(exif_block(6)) + len(exif_block(6))
    for at in (data.index(b"hello"), checksum):
        damaged = data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]
        upright = decode(damaged, LIMITS).width == 48
        assert upright == (at == checksum)


def test_a_flipped_bit_in_a_png_palette_is_noticed() -> None:
    data = sample("palette.png")
    at = data.index(b"PLTE") + 5
    with pytest.raises(BrokenImage):
        read(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])


def test_a_png_without_its_last_chunk_is_whole() -> None:
    assert_same(read(png_file(scene(), 8, RGB)[:-12]), scene())


@pytest.mark.parametrize("interlaced", [False, True])
def test_a_png_with_too_few_rows_is_broken(interlaced: bool) -> None:
    data = png_file(scene(48, 16), 8, RGB, interlaced=interlaced)
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", 48, 32, 8, 2, 0, 0, interlaced))
    with pytest.raises(BrokenImage):
        read(data[:8] + header + data[33:])


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("size", [(48, 32), (1, 1), (5, 3), (2, 9)])
def test_a_png_that_ends_in_black_is_whole(size: tuple[int, int], interlaced: bool) -> None:
    black = np.zeros((size[1], size[0], 3), np.uint8)
    assert_same(read(png_file(black, 8, RGB, interlaced=interlaced)), black)


def test_text_of_every_kind_may_hold_anything() -> None:
    texts = [(b"tEXt", b""), (b"zTXt", b"key\0\0not zlib"), (b"iTXt", b"\xff" * 50), (b"zTXt", b"k\0\x07")]
    assert_same(read(png_file(scene(), 8, RGB, before=texts, after=texts)), scene())


# GIF and TIFF


def test_a_gif_without_a_frame_is_broken() -> None:
    with pytest.raises(BrokenImage):
        read(b"GIF89a" + struct.pack("<HHBBB", 9, 9, 0, 0, 0) + b";")


def test_a_tiff_whose_strip_lies_outside_is_broken() -> None:
    tags = plain_tiff_tags(48, 32, (8, 8, 8)) | {273: (4, [1 << 30])}
    with pytest.raises(BrokenImage):
        read(tiff_file(tags, scene().tobytes()))


# Anything at all


EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=12)
SMALL_CASES = {item.name: item for item in CASES if 0 < len(item.data) < 65_000}


def mutated(data: bytes, edits: list[tuple[float, int]], keep: float, head_only: bool) -> bytes:
    """``data`` with single bytes overwritten, most of them among the headers, and cut to the share ``keep``."""
    reach = min(len(data), 600) if head_only else len(data)
    changed = bytearray(data)
    for place, value in edits:
        changed[min(int(place * reach), len(data) - 1)] = value
    return bytes(changed[: max(1, int(len(data) * keep))])


@settings(max_examples=600, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from([*WRITERS, *SMALL_CASES]), EDITS, st.one_of(st.just(1.0), st.floats(0.05, 1)), st.booleans())
def test_no_damage_raises_anything_but_our_own_errors(
    name: str, edits: list[tuple[float, int]], keep: float, head_only: bool
) -> None:
    data = mutated(sample(name) if name in WRITERS else SMALL_CASES[name].data, edits, keep, head_only)
    limits = DecodeLimits(max_pixels=1_000_000)
    try:
        picture = decode(data, limits, working_pixels=250_000)
    except RequestError:
        return
    assert picture.rgb.dtype == np.uint8
    assert picture.rgb.shape[2] == 3
    assert picture.rgb.shape[0] * picture.rgb.shape[1] <= 250_000
    assert picture.alpha is None or picture.alpha.shape == picture.rgb.shape[:2]
