"""What a conversion is expected to cost grows with what it is asked to do, and never with what it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.admission.work import LARGE_PIXELS, Work
from app.imaging.decode import Seen
from app.inference.stylizer import plan_runs
from app.options import ConvertOptions, SizeOption
from app.types import FaceMode
from app.workload import (
    ALPHA_BYTES,
    ANSWER_BYTES,
    DECODING_JPEG,
    DECODING_OTHERS,
    MIXED_BYTES,
    REMEMBERED_BYTES,
    Hand,
    expected_work,
    face_pixels,
    finishing_work,
)
from tests.unit.stubs import REGISTRY

HAYAO, CUTE = (Hand(REGISTRY.card(style), 125.0) for style in ("hayao", "cute"))


def seen(width: int, height: int, *, decoding: int = 0) -> Seen:
    return Seen("jpeg", width, height, (width, height), decoding)


def work(
    upload: Seen, *, size: SizeOption = 768, face: FaceMode = "auto", picture: Hand = HAYAO, drawer: Hand = HAYAO
) -> Work:
    return expected_work(upload, ConvertOptions(style="hayao", size=size, face=face), picture, drawer)


def test_a_usual_picture_costs_what_goes_through_the_network_and_a_little() -> None:
    network = plan_runs(HAYAO.card, 768, 576).pixels
    assert network < work(seen(768, 576)).pixels < 1.2 * network


def test_pixels_of_the_upload_count_for_far_less_than_pixels_of_the_answer() -> None:
    small, phone = work(seen(768, 576)), work(seen(4000, 3000))
    assert phone.pixels - small.pixels == pytest.approx(DECODING_JPEG * (12_000_000 - 768 * 576))
    png = expected_work(replace(seen(4000, 3000), format="png"), ConvertOptions(style="hayao", size=768), HAYAO, HAYAO)
    assert png.pixels - phone.pixels == pytest.approx((DECODING_OTHERS - DECODING_JPEG) * 12_000_000)


def test_an_original_of_many_megapixels_is_large_and_a_usual_picture_of_it_is_not() -> None:
    phone = seen(4000, 3000)
    assert work(phone, size="original").pixels > LARGE_PIXELS > work(phone).pixels


def test_twelve_faces_make_a_usual_picture_large() -> None:
    assert work(seen(768, 576)).pixels + 12 * face_pixels(HAYAO.card, CUTE.card) > LARGE_PIXELS


def test_a_face_costs_more_where_two_networks_draw_it() -> None:
    assert face_pixels(HAYAO.card, HAYAO.card) == HAYAO.card.face_size**2
    assert face_pixels(HAYAO.card, CUTE.card) > 1.3 * HAYAO.card.face_size**2


def test_a_portrait_is_expected_to_be_no_wider_than_the_picture_is_high() -> None:
    panorama = seen(8000, 400)
    assert work(panorama, face="only").pixels < work(panorama, size="original").pixels / 4


def test_memory_is_that_of_the_picture_and_of_the_largest_run() -> None:
    plain, double = work(seen(768, 576)), work(seen(768, 576), picture=replace(HAYAO, run_bytes=250.0))
    assert double.bytes - plain.bytes == 125 * 768 * 576
    larger = work(seen(1024, 1024), size=1024)
    each = 4 + ANSWER_BYTES["jpeg"] - 3 + 125
    assert larger.bytes - plain.bytes == pytest.approx((1024**2 - 768 * 576) * each, rel=0.01)


def test_each_format_has_its_own_hunger_and_so_has_what_is_mixed_or_may_be_transparent() -> None:
    phone, png = seen(4000, 3000), replace(seen(4000, 3000), format="png")

    def bytes_of(upload: Seen, **options: Any) -> int:
        wishes = ConvertOptions(style="hayao", size="original", **options)
        return expected_work(upload, wishes, HAYAO, HAYAO).bytes

    pixels = 12_000_000
    jpeg, avif = bytes_of(phone, format="jpeg"), bytes_of(phone, format="avif")
    assert avif - jpeg == pixels * (ANSWER_BYTES["avif"] - ANSWER_BYTES["jpeg"])
    assert bytes_of(phone, format="jpeg", strength=50) - jpeg == pixels * MIXED_BYTES
    assert bytes_of(png, format="png") - bytes_of(phone, format="png") == pixels * ALPHA_BYTES
    assert bytes_of(png, format="jpeg") == jpeg


def test_a_hungry_network_for_faces_counts_though_the_picture_is_small() -> None:
    hungry = replace(CUTE, run_bytes=1000.0)
    assert work(seen(64, 64), drawer=hungry).bytes > 1000 * CUTE.card.face_size**2


def test_two_networks_take_memory_each_and_one_that_draws_both_takes_it_once() -> None:
    face = 125 * CUTE.card.face_size**2
    assert work(seen(768, 576), drawer=CUTE).bytes - work(seen(768, 576)).bytes == face
    assert work(seen(64, 64)).bytes > face


def test_where_decoding_takes_more_than_all_that_follows_that_is_the_peak() -> None:
    assert work(seen(4000, 3000, decoding=300_000_000)).bytes > 300_000_000
    assert work(seen(4000, 3000, decoding=3)).bytes < 200_000_000


def test_styles_and_ways_with_faces_are_kinds_of_their_own() -> None:
    assert work(seen(64, 64)).kind != work(seen(64, 64), face="off").kind


def test_what_is_drawn_already_costs_what_mixing_and_encoding_take() -> None:
    work = finishing_work(768, 576, "jpeg", alpha=False)
    assert work.quick
    assert work.pixels < 0.25 * 768 * 576
    assert work.bytes == (ANSWER_BYTES["jpeg"] - REMEMBERED_BYTES + MIXED_BYTES) * 768 * 576
    assert finishing_work(768, 576, "png", alpha=True).bytes > finishing_work(768, 576, "png", alpha=False).bytes
