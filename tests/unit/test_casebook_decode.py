"""Every picture of the case book, as far as decoding alone answers for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from app.errors import AnimeBoothError
from app.imaging.decode import Decoded, DecodeLimits, decode
from tests.casebook import CASES, Case, case
from tests.unit.imaging.compare import assert_alike

LIMITS = DecodeLimits()

# Files whose pixels are stored exactly; 1 of 255 leaves room for the rounding of a colour conversion.
EXACT_SUFFIXES = frozenset({".png", ".gif", ".bmp", ".tif"})
EXACT_MEAN = 0.5
# JPEG, WebP, AVIF and HEIC at the qualities of the case book are 0.7 to 2.5 from their twins. A channel swapped, a
# quarter turn or a profile not applied is more than 20.
LOSSY_MEAN = 3.0

TWINS = [item for item in CASES if item.twin is not None and item.path.suffix != ".jp2"]
PICTURES = [item for item in CASES if item.accepted]
REFUSED = [item for item in CASES if 200 not in item.statuses]


@cache
def decoded(path: Path) -> Decoded:
    return decode(path.read_bytes(), LIMITS)


@pytest.mark.parametrize("item", CASES, ids=str)
def test_every_case_gives_a_picture_or_an_error_its_row_allows(item: Case) -> None:
    try:
        status = 200 if decoded(item.path).rgb.size else 0
    except AnimeBoothError as error:
        status = error.status
    assert status in item.statuses


@pytest.mark.parametrize("item", TWINS, ids=str)
def test_every_case_looks_like_its_twin(item: Case) -> None:
    assert item.twin is not None
    picture, twin = decoded(item.path).rgb, decoded(item.twin).rgb
    height, width = twin.shape[:2]
    assert picture.shape[1] / picture.shape[0] == pytest.approx(width / height, rel=0.01)
    resized = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    assert_alike(resized, twin, mean=EXACT_MEAN if item.path.suffix in EXACT_SUFFIXES else LOSSY_MEAN)


@pytest.mark.parametrize("item", [item for item in PICTURES if item.size], ids=str)
def test_sizes_are_upright_and_those_of_the_row(item: Case) -> None:
    picture = decoded(item.path)
    assert (picture.width, picture.height) == item.size
    assert picture.rgb.shape == (picture.height, picture.width, 3)


@pytest.mark.parametrize("item", PICTURES, ids=str)
def test_pictures_are_writable_contiguous_and_8_bit(item: Case) -> None:
    rgb = decoded(item.path).rgb
    assert rgb.dtype == np.uint8
    assert rgb.flags.c_contiguous
    assert rgb.flags.writeable


@pytest.mark.parametrize("item", REFUSED, ids=str)
def test_refusals_are_told_in_words_without_a_library_or_a_path(item: Case) -> None:
    with pytest.raises(AnimeBoothError) as raised:
        decode(item.data, LIMITS)
    sentence = str(raised.value)
    assert sentence.endswith(".")
    assert not any(word in sentence for word in ("Pillow", "PIL", "/", "libjpeg", "Error"))


def test_panorama_keeps_its_ratio() -> None:
    picture = decoded(case("panorama_8000x400.jpg").path)
    assert picture.width / picture.height == 20


@pytest.mark.parametrize("name", ["heic_plain.heic", "heic_irot6.heic", "avif.avif", "gray16.tif", "ztxt_30mb.png"])
def test_kinds_a_service_might_refuse_are_read(name: str) -> None:
    assert decoded(case(name).path).rgb.shape == (512, 384, 3)


@pytest.mark.parametrize("name", ["fully_transparent.png", "black.png"])
def test_flat_pictures_stay_flat(name: str) -> None:
    assert np.ptp(decoded(case(name).path).rgb) == 0


@pytest.mark.parametrize("name", ["rgba_hole.png", "palette_trns_bytes.png"])
def test_colour_hidden_under_transparency_does_not_show(name: str) -> None:
    picture = decoded(case(name).path)
    magenta = (picture.rgb[:, :, 0] > 200) & (picture.rgb[:, :, 1] < 80) & (picture.rgb[:, :, 2] > 200)
    assert not magenta.any()
    assert picture.alpha is not None
    assert (picture.rgb[picture.alpha == 0] == 255).all()
