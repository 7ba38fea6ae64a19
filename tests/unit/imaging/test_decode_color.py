"""Embedded colour profiles: applied in every container, by the kind of picture they are for, or ignored."""

from __future__ import annotations

import zlib
from io import BytesIO

import numpy as np
import pillow_heif
import pytest
from PIL import Image, ImageCms

from app.imaging.color import MAX_PROFILE_BYTES, plain_to_srgb, profile_to_srgb
from app.imaging.decode import DecodeLimits, decode
from app.types import RgbImage
from tests.casebook import case
from tests.unit.imaging.compare import assert_alike
from tests.unit.imaging.makers import (
    GRAY,
    RGB,
    gray_scene,
    ink_profile,
    linear_gray_profile,
    linear_rgb_profile,
    png_file,
    saved,
    scene,
    srgb_like_profile,
    srgb_of_linear,
)

EXACT = frozenset({"PNG", "TIFF", "WEBP"})
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def read(data: bytes) -> RgbImage:
    return decode(data, DecodeLimits()).rgb


def with_profile(image: Image.Image, format: str, profile: bytes) -> bytes:
    if format == "HEIF":
        file = BytesIO()
        pillow_heif.from_pillow(image).save(file, quality=95, chroma="444", icc_profile=profile)
        return file.getvalue()
    if format == "WEBP":
        return saved(image, format, lossless=True, icc_profile=profile)
    return saved(image, format, icc_profile=profile, **({} if format in EXACT else {"quality": 95}))


def as_rgb(gray: object) -> RgbImage:
    return np.dstack([np.asarray(gray, np.float64).round().astype(np.uint8)] * 3)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_a_linear_profile_brightens_the_picture_in_every_container(format: str) -> None:
    data = with_profile(Image.fromarray(scene()), format, linear_rgb_profile())
    wanted = srgb_of_linear(scene()).round().astype(np.uint8)
    assert_alike(read(data), wanted, mean=0.7 if format in EXACT else 4)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_display_p3_becomes_srgb_in_every_container(format: str) -> None:
    with Image.open(case("p3_photo.jpg").path) as phone:
        profile = phone.info["icc_profile"]
    image = Image.fromarray(scene() // 2 + 60)
    converted = ImageCms.profileToProfile(image, BytesIO(profile), ImageCms.createProfile("sRGB"))
    assert converted is not None
    moved = np.abs(np.asarray(converted, np.int16) - np.asarray(image)).mean()
    assert moved > 5, "the two spaces must differ for this test to mean anything"
    assert_alike(read(with_profile(image, format, profile)), np.asarray(converted), mean=0.7 if format in EXACT else 3)


def test_channels_are_the_ones_the_profile_names() -> None:
    """A profile whose red is green's place and so on turns red into green."""
    red = Image.new("RGB", (8, 8), (255, 0, 0))
    green = read(with_profile(red, "PNG", linear_rgb_profile("gbr")))
    assert_alike(green, np.full((8, 8, 3), (0, 255, 0), np.uint8), mean=2, shift=2)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "TIFF"])
def test_a_gray_profile_is_applied_to_a_gray_picture(format: str) -> None:
    data = with_profile(Image.fromarray(gray_scene()), format, linear_gray_profile())
    assert_alike(read(data), as_rgb(srgb_of_linear(gray_scene())), mean=0.7 if format in EXACT else 3)


def test_a_gray_profile_is_applied_to_16_bit_gray() -> None:
    body = b"gray\0\0" + zlib.compress(linear_gray_profile())
    data = png_file(gray_scene().astype(np.uint16) * 257, 16, GRAY, before=[(b"iCCP", body)])
    assert_alike(read(data), as_rgb(srgb_of_linear(gray_scene())), mean=0.7)


def test_a_gray_profile_is_applied_beside_alpha() -> None:
    image = Image.fromarray(gray_scene()).convert("LA")
    image.putalpha(Image.new("L", image.size, 254))
    picture = read(with_profile(image, "PNG", linear_gray_profile()))
    assert_alike(picture, as_rgb(srgb_of_linear(gray_scene())), mean=1.5, shift=1.5)


def test_an_rgb_profile_on_a_gray_picture_is_applied_to_its_three_equal_channels() -> None:
    data = with_profile(Image.fromarray(gray_scene()), "PNG", linear_rgb_profile())
    assert_alike(read(data), as_rgb(srgb_of_linear(gray_scene())), mean=0.7)


@pytest.mark.parametrize("format", ["JPEG", "TIFF"])
def test_an_ink_profile_says_what_the_inks_look_like(format: str) -> None:
    """Cyan is drawn as a dark red by this profile, which no rule of thumb would do; no ink is paper white."""
    profile = ink_profile(lambda c, m, y, k: (0, 0, 0) if k or m or y else (40, 50, 40) if c else (100, 0, 0))
    inks = Image.new("CMYK", (16, 16), (255, 0, 0, 0))
    inks.paste((0, 0, 0, 0), (8, 0, 16, 16))
    picture = read(with_profile(inks, format, profile))
    red, green, blue = (int(value) for value in picture[8, 2])
    assert red > 2 * green
    assert red > 2 * blue
    assert (picture[8, 13] > 245).all()


@pytest.mark.parametrize(
    ("mode", "profile"),
    [
        ("RGB", linear_gray_profile()),
        ("CMYK", linear_rgb_profile()),
        ("RGB", ink_profile(lambda c, m, y, k: (50, 0, 0))),
        ("L", ink_profile(lambda c, m, y, k: (50, 0, 0))),
    ],
)
def test_a_profile_for_another_kind_of_picture_is_ignored(mode: str, profile: bytes) -> None:
    image = Image.fromarray(scene()).convert(mode)
    assert np.array_equal(read(with_profile(image, "TIFF", profile)), read(saved(image, "TIFF")))


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "swapped", "huge"])
@pytest.mark.parametrize("format", ["PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_a_broken_profile_is_ignored(format: str, damage: str) -> None:
    whole = linear_rgb_profile()
    profile = {
        "empty": b"\0",
        "cut": whole[: len(whole) // 2],
        "text": b"not a profile at all" * 20,
        "swapped": whole[:128] + whole[:127:-1],
        "huge": whole + b"\0" * MAX_PROFILE_BYTES,
    }[damage]
    image = Image.fromarray(scene())
    plain = with_profile(image, format, SRGB)
    assert np.array_equal(read(with_profile(image, format, profile)), read(plain))


@pytest.mark.parametrize("profile", [SRGB, srgb_like_profile()])
def test_a_profile_that_is_srgb_changes_no_sample(profile: bytes) -> None:
    everything = np.random.default_rng(7).integers(0, 256, (100, 100, 3), np.uint8)
    assert np.array_equal(read(with_profile(Image.fromarray(everything), "PNG", profile)), everything)


@pytest.mark.parametrize("profile", [b"\0", linear_rgb_profile()[:200], b"not a profile at all" * 20])
def test_a_broken_profile_in_a_jpeg_is_ignored(profile: bytes) -> None:
    image = Image.fromarray(scene())
    assert np.array_equal(read(with_profile(image, "JPEG", profile)), read(with_profile(image, "JPEG", SRGB)))


def test_a_profile_that_is_srgb_costs_nothing() -> None:
    assert profile_to_srgb(SRGB, "RGB") is plain_to_srgb
    assert profile_to_srgb(srgb_like_profile(), "RGB") is plain_to_srgb
    assert profile_to_srgb(linear_rgb_profile(), "RGB") is not plain_to_srgb


@pytest.mark.parametrize("body", [b"", b"name", b"name\0\0not zlib", b"name\0\0" + zlib.compress(SRGB)[:-9]])
def test_a_damaged_profile_chunk_is_ignored(body: bytes) -> None:
    assert np.array_equal(read(png_file(scene(), 8, RGB, before=[(b"iCCP", body)])), scene())


def test_a_profile_chunk_that_inflates_without_end_is_ignored() -> None:
    body = b"bomb\0\0" + zlib.compress(bytes(64 << 20))
    assert np.array_equal(read(png_file(scene(), 8, RGB, before=[(b"iCCP", body)])), scene())


def test_a_jpeg_profile_with_a_part_missing_is_ignored() -> None:
    profile = linear_rgb_profile() + b"\0" * 70_000
    data = with_profile(Image.fromarray(scene()), "JPEG", profile)
    first = data.index(b"ICC_PROFILE\0\x01")
    lame = data[: first + 12] + b"\x09" + data[first + 13 :]
    assert not np.array_equal(read(data), read(lame))
    assert np.array_equal(read(lame), read(with_profile(Image.fromarray(scene()), "JPEG", SRGB)))


def test_inks_without_a_profile_multiply() -> None:
    inks = Image.new("CMYK", (8, 8), (128, 0, 255, 64))
    picture = read(saved(inks, "TIFF"))
    assert_alike(picture, np.full((8, 8, 3), (95, 191, 0), np.uint8), mean=1)
