"""Every way a picture can say which way up it is: believed once, where a browser believes it."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Literal

import numpy as np
import pillow_heif
import pytest
from PIL import Image

from app.imaging.decode import Decoded, DecodeLimits, decode
from app.imaging.exif import orientation
from app.imaging.orientation import turn_upright, upright_size
from app.types import RgbImage
from tests.unit.imaging.compare import assert_alike
from tests.unit.imaging.makers import RGB, exif_block, png_file, saved, scene, with_segment

EIGHT = range(1, 9)
EXIF = b"Exif\0\0"


def read(data: bytes) -> Decoded:
    return decode(data, DecodeLimits())


def stored(upright: RgbImage, value: int) -> RgbImage:
    """How a camera stores ``upright`` under an orientation, in plain numpy: (first row, first column) by the standard.

    1 top left, 2 top right, 3 bottom right, 4 bottom left, 5 left top, 6 right top, 7 right bottom, 8 left bottom.
    """
    return {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.transpose(1, 0, 2),
        6: upright.transpose(1, 0, 2)[::-1],
        7: upright.transpose(1, 0, 2)[::-1, ::-1],
        8: upright.transpose(1, 0, 2)[:, ::-1],
    }[value]


def written(format: str, value: int) -> bytes:
    image = Image.fromarray(np.ascontiguousarray(stored(scene(), value)))
    exif = Image.Exif()
    exif[274] = value
    if format == "HEIF":
        file = BytesIO()
        pillow_heif.from_pillow(image).save(file, quality=95, chroma="444", exif=exif.tobytes())
        return file.getvalue()
    options = {"JPEG": {"quality": 95, "subsampling": 0}, "WEBP": {"lossless": True}, "AVIF": {"quality": 95}}
    if format == "TIFF":
        return saved(image, format, tiffinfo={274: value})
    return saved(image, format, exif=exif.tobytes(), **options.get(format, {}))


@pytest.mark.parametrize("value", EIGHT)
def test_turning_undoes_what_the_camera_did(value: int) -> None:
    assert np.array_equal(turn_upright(np.ascontiguousarray(stored(scene(), value)), value), scene())


@pytest.mark.parametrize("value", EIGHT)
def test_a_plane_turns_like_its_picture(value: int) -> None:
    plane = np.ascontiguousarray(stored(scene(), value)[:, :, 0])
    assert np.array_equal(turn_upright(plane, value), scene()[:, :, 0])


def test_sizes_turn_with_the_four_sideways_ones() -> None:
    assert [upright_size(3, 2, value) for value in EIGHT] == [(3, 2)] * 4 + [(2, 3)] * 4


@pytest.mark.parametrize("value", EIGHT)
@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_every_orientation_in_every_container_is_applied_once(format: str, value: int) -> None:
    picture = read(written(format, value))
    assert (picture.width, picture.height) == (48, 32)
    assert_alike(picture.rgb, scene(), mean=0 if format in ("PNG", "WEBP", "TIFF") else 4)


@pytest.mark.parametrize("value", [3, 6, 7])
def test_alpha_turns_with_the_picture(value: int) -> None:
    alpha = np.linspace(0, 255, 48).astype(np.uint8)[None, :].repeat(32, 0)
    samples = np.ascontiguousarray(stored(np.dstack((scene(), alpha)), value))
    picture = read(png_file(samples, 8, 6, after=[(b"eXIf", exif_block(value))]))
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha, alpha)


def test_a_reduced_jpeg_is_turned_too() -> None:
    image = Image.fromarray(np.ascontiguousarray(stored(scene(640, 320), 6)))
    exif = Image.Exif()
    exif[274] = 6
    picture = decode(saved(image, "JPEG", exif=exif), DecodeLimits(), working_pixels=320 * 160)
    assert (picture.width, picture.height) == (640, 320)
    assert picture.rgb.shape == (160, 320, 3)
    assert_alike(picture.rgb, scene(320, 160), mean=3)


@pytest.mark.parametrize("before", [True, False])
def test_png_may_hold_it_before_or_after_its_pixels(before: bool) -> None:
    chunk = [(b"eXIf", exif_block(3))]
    turned = np.ascontiguousarray(scene()[::-1, ::-1])
    data = png_file(turned, 8, RGB, before=chunk if before else (), after=() if before else chunk)
    assert np.array_equal(read(data).rgb, scene())


def test_orientation_by_xmp_alone_is_ignored() -> None:
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    image = Image.fromarray(scene())
    for data in (
        with_segment(saved(image, "JPEG"), 0xE1, b"http://ns.adobe.com/xap/1.0/\0" + xmp),
        saved(image, "WEBP", xmp=xmp),
        saved(image, "AVIF", xmp=xmp),
        png_file(scene(), 8, RGB, before=[(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp)]),
        saved(image, "TIFF", tiffinfo={700: xmp}),
    ):
        assert (read(data).width, read(data).height) == (48, 32)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("kind", "form"), [(3, "HH"), (4, "I")])
def test_both_byte_orders_and_integer_types_are_read(order: str, kind: int, form: str) -> None:
    mark = b"II*\0" if order == "<" else b"MM\0*"
    value = struct.pack(order + form, *((8, 0) if form == "HH" else (8,)))
    block = mark + struct.pack(order + "IHHHI", 8, 1, 274, kind, 1) + value
    assert orientation(EXIF + block) == 8


@pytest.mark.parametrize("signatures", [0, 1, 2, 3])
def test_a_repeated_signature_does_not_hide_the_orientation(signatures: int) -> None:
    assert orientation(EXIF * signatures + exif_block(6)) == 6


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\0",
        b"not TIFF at all" * 10,
        b"MM\0*",
        b"MM\0*\xff\xff\xff\xff",
        b"MM\0*" + struct.pack(">I", 8),
        b"MM\0*" + struct.pack(">IH", 8, 65535),
        b"II+\0" + struct.pack("<HHQ", 8, 0, 2**63 + 5),
        exif_block(0),
        exif_block(9),
        exif_block(6).replace(struct.pack(">HHI", 274, 3, 1), struct.pack(">HHI", 274, 2, 1)),
        exif_block(6).replace(struct.pack(">HHI", 274, 3, 1), struct.pack(">HHI", 274, 3, 0)),
        exif_block(6)[:-6],
    ],
)
@pytest.mark.parametrize("place", ["block", "JPEG", "PNG", "WEBP"])
def test_nonsense_means_upright(block: bytes, place: str) -> None:
    if place == "block":
        assert orientation(block) == 1
        return
    image = Image.fromarray(scene())
    data = {
        "JPEG": lambda: with_segment(saved(image, "JPEG"), 0xE1, EXIF + block),
        "PNG": lambda: png_file(scene(), 8, RGB, before=[(b"eXIf", block)]),
        "WEBP": lambda: saved(image, "WEBP", lossless=True, exif=block or b"\0"),
    }[place]()
    assert (read(data).width, read(data).height) == (48, 32)


def test_the_first_exif_block_of_a_jpeg_counts() -> None:
    data = saved(Image.fromarray(scene()), "JPEG")
    data = with_segment(with_segment(data, 0xE1, EXIF + exif_block(6)), 0xE1, EXIF + exif_block(1))
    assert (read(data).width, read(data).height) == (48, 32)


def iso_file(format: str, orientation_tag: int) -> tuple[bytes, int]:
    """An upright AVIF or HEIC whose EXIF says 6 under ``orientation_tag``, and where the EXIF's TIFF header is."""
    exif = Image.Exif()
    # Under the orientation's own number the writers would turn the value into boxes.
    exif[259] = 6
    image = Image.fromarray(scene())
    file = BytesIO()
    if format == "HEIF":
        pillow_heif.from_pillow(image).save(file, quality=95, exif=exif.tobytes())
    else:
        image.save(file, format, exif=exif.tobytes())
    data = file.getvalue()
    block = max(data.rfind(b"MM\0*"), data.rfind(b"II*\0"))
    order: Literal["little", "big"] = "little" if data[block : block + 2] == b"II" else "big"
    tag = block + 10
    assert data[tag : tag + 2] == (259).to_bytes(2, order)
    return data[:tag] + orientation_tag.to_bytes(2, order) + data[tag + 2 :], block


@pytest.mark.parametrize("format", ["AVIF", "HEIF"])
def test_garbage_in_the_exif_of_an_iso_file_spoils_nothing(format: str) -> None:
    data, block = iso_file(format, 259)
    garbled = data[:block] + bytes(byte ^ 0xA5 for byte in data[block : block + 20]) + data[block + 20 :]
    assert np.array_equal(read(garbled).rgb, read(data).rgb)


@pytest.mark.parametrize("format", ["AVIF", "HEIF"])
def test_the_exif_of_an_iso_file_does_not_turn_it(format: str) -> None:
    data, _ = iso_file(format, 274)
    assert_alike(read(data).rgb, scene(), mean=5)
