"""What a look at the header promises is what decoding gives, and no pixel is decoded for it."""

from __future__ import annotations

import pytest
from PIL import Image

from app.errors import AnimeBoothError, TooManyPixels
from app.imaging.decode import DecodeLimits, decode, look
from tests.casebook import CASES, Case, case
from tests.unit.imaging.makers import exif_block, saved, scene

PICTURE = Image.fromarray(scene(64, 48))


ACCEPTED = [entry for entry in CASES if entry.accepted]


@pytest.mark.parametrize("working", [None, 10_000], ids=["in full", "reduced"])
@pytest.mark.parametrize("entry", ACCEPTED, ids=lambda entry: entry.name)
def test_it_promises_what_decoding_gives(entry: Case, working: int | None) -> None:
    seen = look(entry.data, DecodeLimits(), working_pixels=working)
    decoded = decode(entry.data, DecodeLimits(), working_pixels=working)
    assert (seen.format, seen.width, seen.height) == (decoded.format, decoded.width, decoded.height)
    assert seen.decoded == decoded.rgb.shape[1::-1]


@pytest.mark.parametrize("name", ["text_named.jpg", "empty.jpg", "bomb_400mp.png", "soi_only.jpg", "jp2.jp2"])
def test_what_no_decoder_would_take_is_refused_at_a_look_with_the_same_error(name: str) -> None:
    with pytest.raises(AnimeBoothError) as refused:
        decode(case(name).data, DecodeLimits())
    with pytest.raises(type(refused.value)):
        look(case(name).data, DecodeLimits())


def test_what_lies_on_its_side_is_told_upright() -> None:
    seen = look(saved(PICTURE, "JPEG", exif=b"Exif\0\0" + exif_block(6)), DecodeLimits())
    assert (seen.width, seen.height, seen.decoded) == (48, 64, (48, 64))


def test_the_limits_hold_for_a_look_too() -> None:
    with pytest.raises(TooManyPixels):
        look(saved(PICTURE, "PNG"), DecodeLimits(max_pixels=64 * 48 - 1))


def test_a_jpeg_costs_what_it_is_decoded_to_and_a_png_what_it_has() -> None:
    jpeg, png = (look(saved(PICTURE, kind), DecodeLimits(), working_pixels=32 * 24) for kind in ("JPEG", "PNG"))
    assert jpeg.decoded == png.decoded == (32, 24)
    assert png.bytes > 4 * jpeg.bytes


def test_a_jpeg_of_inks_costs_more() -> None:
    colours, inks = (look(saved(picture, "JPEG"), DecodeLimits()) for picture in (PICTURE, PICTURE.convert("CMYK")))
    assert inks.bytes >= 8 / 6 * colours.bytes


def test_a_jpeg_in_several_scans_costs_more() -> None:
    plain, progressive = (look(saved(PICTURE, "JPEG", progressive=several), DecodeLimits()) for several in (0, 1))
    assert progressive.bytes > 1.5 * plain.bytes
