"""Where the fuzzer strikes, and how it mends what would otherwise stop a reader at the door."""

from __future__ import annotations

import zlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.unit.imaging.makers import RGB, png_file, saved, scene
from tools.fuzz.anatomy import telling_places
from tools.fuzz.repair import repaired, with_png_rows_changed
from tools.fuzz.seeds import Seed, small_pictures

PNG = png_file(scene(), 8, RGB)
SMALL = small_pictures()


def names_within(data: bytes) -> set[bytes]:
    """Four-letter names that the telling places hold near their start."""
    return {data[start + shift : start + shift + 4] for start, _ in telling_places(data) for shift in (0, 4)}


@pytest.mark.parametrize("seed", SMALL, ids=lambda seed: seed.name)
def test_every_kind_of_file_has_places_within_it_and_behind_its_signature(seed: Seed) -> None:
    places = telling_places(seed.data)
    assert places
    assert all(0 < start < end <= len(seed.data) for start, end in places)


@pytest.mark.parametrize("data", [b"x", b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"II*\0", b"GIF89a", bytes(30)])
def test_the_smallest_files_have_a_place_too(data: bytes) -> None:
    assert all(0 <= start < end <= len(data) for start, end in telling_places(data))
    assert telling_places(data)


def test_the_parts_of_each_container_are_found() -> None:
    by_name = {seed.name: seed.data for seed in SMALL}
    assert {b"IHDR", b"IDAT", b"PLTE"} <= names_within(by_name["P.png"])
    assert {b"ispe", b"hvcC", b"pitm", b"iloc", b"irot"} <= names_within(by_name["turned.heic"])
    assert {b"VP8X", b"ICCP", b"EXIF"} <= names_within(by_name["lossy.webp"])
    markers = {
        by_name["progressive.jpeg"][start : start + 2] for start, _ in telling_places(by_name["progressive.jpeg"])
    }
    assert {b"\xff\xc2", b"\xff\xda", b"\xff\xdb", b"\xff\xc4"} <= markers


def test_a_damaged_png_gets_its_checksums_back() -> None:
    damaged = PNG[:19] + b"\x05" + PNG[20:]
    with pytest.raises((OSError, SyntaxError)):
        Image.open(BytesIO(damaged)).load()
    assert Image.open(BytesIO(repaired(damaged))).size == (5, 32)


def test_what_needs_no_repair_is_left_alone() -> None:
    jpeg = saved(Image.fromarray(scene()), "JPEG")
    assert repaired(PNG) == PNG
    assert repaired(jpeg) == jpeg


def test_rows_are_changed_behind_the_compression() -> None:
    changed = with_png_rows_changed(PNG, lambda rows: rows[:1] + b"\x09" + rows[2:])
    assert changed is not None
    before, after = (np.asarray(Image.open(BytesIO(data))) for data in (PNG, changed))
    assert after[0, 0, 0] == 9
    assert np.count_nonzero(before != after) == 1


@pytest.mark.parametrize("data", [b"no png at all", PNG[:20], PNG.replace(zlib.compress(b"")[:2], b"zz")])
def test_a_file_without_rows_has_none_to_change(data: bytes) -> None:
    assert with_png_rows_changed(data, lambda rows: rows) is None
