"""Files as we write them: the same every time, without a word about the person, and true to the picture."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import get_args

import numpy as np
import pytest
from PIL import Image

from app.errors import InvalidOption
from app.imaging.decode import DecodeLimits, decode
from app.imaging.encode import (
    DEFAULT_QUALITIES,
    FILE_SUFFIXES,
    MIMETYPES,
    answer_format,
    check_size,
    encode,
    supports_alpha,
)
from app.types import ImageFormat, RgbImage, UploadFormat
from tests.casebook import case
from tests.unit.imaging.compare import assert_alike
from tests.unit.imaging.makers import scene

FORMATS: tuple[ImageFormat, ...] = get_args(ImageFormat)
LOSSY = tuple(DEFAULT_QUALITIES)
WITH_ALPHA = tuple(format for format in FORMATS if supports_alpha(format))


def shown(data: bytes) -> RgbImage:
    return decode(data, DecodeLimits()).rgb


def ramp_alpha(width: int = 48, height: int = 32) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.linspace(0, 255, width).astype(np.uint8)[None, :].repeat(height, 0)


# What the tables say


def test_every_format_has_a_mimetype_and_a_suffix() -> None:
    assert set(MIMETYPES) == set(FILE_SUFFIXES) == set(FORMATS)


@pytest.mark.parametrize("upload", get_args(UploadFormat))
def test_every_upload_is_answered_in_its_own_format_or_the_nearest(upload: UploadFormat) -> None:
    nearest = {"gif": "png", "bmp": "png", "tiff": "png", "heif": "jpeg"}
    assert answer_format(upload) == nearest.get(upload, upload)


@pytest.mark.parametrize("format", FORMATS)
def test_the_bytes_are_of_the_format_asked_for(format: ImageFormat) -> None:
    assert decode(encode(scene(), format), DecodeLimits()).format == format


# Pixels


def test_png_is_exact() -> None:
    assert np.array_equal(shown(encode(scene(), "png")), scene())


@pytest.mark.parametrize("format", LOSSY)
def test_others_are_close(format: ImageFormat) -> None:
    photo = shown(case("face_one.png").data)
    assert_alike(shown(encode(photo, format)), photo, mean=2.5, shift=0.5)


@pytest.mark.parametrize("format", ["jpeg", "avif"])
def test_thin_coloured_lines_keep_their_colour(format: ImageFormat) -> None:
    """One-pixel red lines on white lose half their colour where chroma is subsampled."""
    lines = np.full((64, 64, 3), 255, np.uint8)
    lines[:, ::8] = (255, 0, 0)
    assert shown(encode(lines, format))[:, ::8, 1].mean() < 40


@pytest.mark.parametrize("size", [(1, 1), (1, 300), (400, 1), (3, 2), (33, 47)])
@pytest.mark.parametrize("format", FORMATS)
def test_any_size_can_be_written(format: ImageFormat, size: tuple[int, int]) -> None:
    flat = np.full((size[1], size[0], 3), (200, 120, 40), np.uint8)
    assert_alike(shown(encode(flat, format)), flat, mean=3, shift=3)


@pytest.mark.parametrize("format", FORMATS)
def test_a_picture_that_is_a_view_is_written_like_its_copy(format: ImageFormat) -> None:
    view = scene(96, 64)[::2, ::-2]
    assert encode(view, format) == encode(view.copy(), format)


@pytest.mark.parametrize("format", LOSSY)
def test_quality_trades_size_for_likeness(format: ImageFormat) -> None:
    photo = shown(case("face_one.png").data)
    low, high = encode(photo, format, quality=20), encode(photo, format, quality=95)
    assert len(low) < len(high) / 2
    error = [np.abs(shown(data).astype(int) - photo).mean() for data in (low, high)]
    assert error[0] > error[1]


def test_png_takes_no_notice_of_quality() -> None:
    assert encode(scene(), "png", quality=1) == encode(scene(), "png")


@pytest.mark.parametrize("format", LOSSY)
def test_the_default_quality_is_the_one_stated(format: ImageFormat) -> None:
    assert encode(scene(), format) == encode(scene(), format, quality=DEFAULT_QUALITIES[format])


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_picture_gives_the_same_bytes(format: ImageFormat) -> None:
    photo = shown(case("face_one.png").data)
    assert encode(photo, format) == encode(photo.copy(), format)


def test_a_webp_too_long_for_webp_names_the_formats_that_can() -> None:
    strip = np.zeros((1, 16_384, 3), np.uint8)
    with pytest.raises(InvalidOption) as raised:
        encode(strip, "webp")
    assert raised.value.fields["allowed"] == "png, jpeg, avif"
    assert shown(encode(strip[:, 1:], "webp")).shape == (1, 16_383, 3)


def test_an_avif_that_would_take_too_much_memory_names_the_formats_that_take_less() -> None:
    check_size("avif", 4096, 4096)
    with pytest.raises(InvalidOption) as raised:
        encode(np.broadcast_to(np.uint8(0), (4097, 4096, 3)), "avif")
    assert raised.value.fields["allowed"] == "png, jpeg, webp"


# Alpha


@pytest.mark.parametrize("format", WITH_ALPHA)
def test_alpha_comes_back(format: ImageFormat) -> None:
    alpha = ramp_alpha()
    picture = decode(encode(scene(), format, alpha=alpha), DecodeLimits())
    assert picture.alpha is not None
    assert_alike(picture.alpha, alpha, mean=0 if format == "png" else 1.5)


def test_what_was_decoded_on_white_looks_the_same_on_white_again() -> None:
    before = decode(case("rgba_hole.png").data, DecodeLimits())
    assert before.alpha is not None
    after = decode(encode(before.rgb, "png", alpha=before.alpha), DecodeLimits())
    assert after.alpha is not None
    assert np.array_equal(after.alpha, before.alpha)
    assert_alike(after.rgb, before.rgb, mean=0.5)


def test_edges_show_no_white_rim_on_black() -> None:
    """A black disc with a soft edge, seen on black, must be black."""
    alpha = ramp_alpha()
    on_white = np.dstack([255 - alpha] * 3)
    with Image.open(BytesIO(encode(on_white, "png", alpha=alpha))) as image:
        on_black = Image.alpha_composite(Image.new("RGBA", image.size, (0, 0, 0, 255)), image)
    assert np.asarray(on_black)[:, :, :3].max() <= 1


@pytest.mark.parametrize("format", WITH_ALPHA)
def test_a_picture_without_alpha_is_written_without(format: ImageFormat) -> None:
    with Image.open(BytesIO(encode(scene(), format))) as image:
        assert image.mode == "RGB"


def test_jpeg_has_no_alpha() -> None:
    with pytest.raises(ValueError, match="alpha"):
        encode(scene(), "jpeg", alpha=ramp_alpha())


# Nothing else is in the files


def png_chunks(data: bytes) -> Iterator[bytes]:
    at = 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8]
        at += 12 + length


def jpeg_markers(data: bytes) -> Iterator[int]:
    at = 2
    while data[at + 1] != 0xDA:
        yield data[at + 1]
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")


def riff_chunks(data: bytes) -> Iterator[bytes]:
    at = 12
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at + 4)
        yield data[at : at + 4]
        at += 8 + length + (length & 1)


def test_a_png_holds_its_pixels_and_no_more() -> None:
    assert set(png_chunks(encode(scene(), "png"))) == {b"IHDR", b"IDAT", b"IEND"}


def test_a_jpeg_holds_its_tables_and_no_more() -> None:
    data = encode(scene(), "jpeg")
    assert set(jpeg_markers(data)) <= {0xE0, 0xDB, 0xC0, 0xC4}
    assert data.endswith(b"\xff\xd9")


def test_a_webp_holds_its_pixels_and_no_more() -> None:
    assert set(riff_chunks(encode(scene(), "webp"))) == {b"VP8 "}
    assert set(riff_chunks(encode(scene(), "webp", alpha=ramp_alpha()))) == {b"VP8X", b"ALPH", b"VP8 "}


@pytest.mark.parametrize("format", FORMATS)
def test_neither_exif_nor_xmp_nor_comments_nor_profiles_are_written(format: ImageFormat) -> None:
    photo = decode(case("exif_gps_o6.jpg").data, DecodeLimits()).rgb
    data = encode(photo, format)
    with Image.open(BytesIO(data)) as image:
        assert not {"exif", "xmp", "comment", "icc_profile", "photoshop"} & set(image.info)
        assert not image.getexif()
    words = (b"Exif", b"http://ns.adobe.com", b"xmpmeta", b"ICC_PROFILE", b"Lavc", b"OpenCV", b"CREATOR")
    assert not [word for word in words if word in data]
