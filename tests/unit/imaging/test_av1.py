"""The size that AV1 data are coded in, by their own account, whatever the boxes around them say."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from PIL import Image

from app.errors import BrokenImage, TooManyPixels
from app.imaging.containers.av1 import coded_sizes
from app.imaging.containers.avif import largest_coded
from app.imaging.containers.bmff import coded_items
from app.imaging.decode import DecodeLimits, decode
from tests.casebook import case
from tests.unit.imaging.makers import saved, scene

PICTURE = Image.fromarray(scene(66, 38))


def avif(image: Image.Image = PICTURE, **parameters: object) -> bytes:
    return saved(image, "AVIF", speed=10, **parameters)


def animated() -> bytes:
    return avif(save_all=True, append_images=[PICTURE.rotate(180)], duration=100)


KINDS = {
    "plain": avif(),
    "full chroma": avif(subsampling="4:4:4"),
    "gray": avif(PICTURE.convert("L"), subsampling="4:0:0"),
    "alpha": avif(Image.fromarray(np.dstack((scene(66, 38), scene(66, 38)[:, :, 0])))),
    "animated": animated(),
}


@pytest.mark.parametrize("data", KINDS.values(), ids=KINDS.keys())
def test_the_coded_size_is_that_of_the_picture(data: bytes) -> None:
    assert largest_coded(data) == PICTURE.size


def test_every_item_and_the_first_sample_of_every_track_is_looked_at() -> None:
    assert len(list(coded_items(KINDS["plain"], b"av01"))) == 1
    assert len(list(coded_items(KINDS["alpha"], b"av01"))) == 2
    assert len(list(coded_items(KINDS["animated"], b"av01"))) >= 2


def test_boxes_that_claim_less_than_is_coded_do_not_count() -> None:
    with pytest.raises(TooManyPixels) as refused:
        decode(case("avif_coded_larger.avif").data, DecodeLimits())
    assert (refused.value.fields["width"], refused.value.fields["height"]) == (8160, 6120)


def test_a_little_more_coded_than_claimed_costs_what_it_holds() -> None:
    """Above the limit only with what is coded: 66 x 38 px, for 33 x 19 that the boxes claim."""
    data = KINDS["plain"]
    at = data.index(b"ispe") + 8
    smaller = data[:at] + struct.pack(">II", 33, 19) + data[at + 8 :]
    assert decode(smaller, DecodeLimits(max_pixels=2 * 66 * 38)).width == 33
    with pytest.raises(TooManyPixels):
        decode(smaller, DecodeLimits(max_pixels=66 * 38))


def test_items_upon_each_other_are_refused_before_they_are_copied() -> None:
    data = KINDS["plain"]
    iloc = data.index(b"iloc") + 4
    assert data[iloc : iloc + 8] == b"\0\0\0\0\x44\0\0\1", "Pillow writes its table otherwise now: four-byte fields"
    item = data[iloc + 8 : iloc + 12]
    extents = struct.pack(">HII", 3, 0, len(data)) + struct.pack(">II", 0, len(data)) * 2
    crowded = data[: iloc + 8] + item + extents + data[iloc + 8 + 14 :]
    grown = len(crowded) - len(data)
    for name in (b"meta", b"iloc"):
        at = crowded.index(name) - 4
        size = struct.unpack_from(">I", crowded, at)[0] + grown
        crowded = crowded[:at] + struct.pack(">I", size) + crowded[at + 4 :]
    with pytest.raises(BrokenImage):
        list(coded_items(crowded, b"av01"))


# Made bit by bit


def bits(*fields: tuple[int, int]) -> bytes:
    """(value, width) after (value, width), filled up with zeros."""
    text = "".join(f"{value:0{width}b}" for value, width in fields if width)
    return int(text.ljust(-(-len(text) // 8) * 8, "0"), 2).to_bytes(-(-len(text) // 8), "big")


def unit(kind: int, body: bytes) -> bytes:
    return bytes([kind << 3 | 2, len(body)]) + body


def sequence(width: int, height: int) -> bytes:
    """Profile 0, not a reduced still, one operating point, sides of 16 bits, no frame numbers, no tools."""
    head = bits(
        *((0, 3), (0, 1), (0, 1), (0, 1), (0, 1), (0, 5), (0, 12), (4, 5)),
        *((15, 4), (15, 4), (width - 1, 16), (height - 1, 16), (0, 1)),
        *((0, 3), (0, 4), (0, 1), (1, 1), (1, 1)),
    )
    return unit(1, head)


def key_frame(*, override: bool) -> bytes:
    """Shown, all by itself, no screen content."""
    return unit(3, bits((0, 1), (0, 2), (1, 1), (0, 1), (0, 1), (override, 1), (0, 40)))


def test_a_sequence_is_read_without_any_library() -> None:
    assert coded_sizes(sequence(640, 481) + key_frame(override=False)) == [(640, 481)]
    assert coded_sizes(sequence(1, 65_536) + sequence(3, 2)) == [(1, 65_536), (3, 2)]


def test_a_frame_with_a_size_of_its_own_is_refused() -> None:
    with pytest.raises(BrokenImage):
        coded_sizes(sequence(640, 480) + key_frame(override=True))


@pytest.mark.parametrize(
    "data", [b"", b"\x12\0", sequence(64, 48)[:8], b"\x0a", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff"]
)
def test_data_without_a_whole_sequence_header_are_broken(data: bytes) -> None:
    with pytest.raises(BrokenImage):
        coded_sizes(data)


def test_units_without_end_are_broken() -> None:
    with pytest.raises(BrokenImage):
        coded_sizes(sequence(64, 48) + b"\x12\0" * 20_000)
