"""Sizes, padding and tiles, as pure values. What a network makes of tiles is in tests/unit/inference/test_stylizer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from app.imaging.sizing import (
    Area,
    SizeRequirements,
    Span,
    Tile,
    cosine_ramp,
    crop,
    pad,
    plan_size,
    plan_spans,
    plan_tiles,
    reflected_index,
    resize,
    tile_weights,
    window,
)
from app.types import RgbImage

MULTIPLE_OF_8 = SizeRequirements(multiple_of=8, minimum=8)

# Lengths around every border a plan has: one tile, just over one, and the longest side an upload may have.
LENGTHS = (1, 7, 8, 255, 256, 257, 300, 383, 512, 777, 1025, 4096, 20_000)


def noise(width: int, height: int, seed: int = 0) -> RgbImage:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def numbered(width: int, height: int) -> RgbImage:
    """Every pixel says where it is, so that a pixel from the wrong place shows."""
    rows, columns = np.indices((height, width))
    return np.stack([rows % 256, columns % 256, (rows // 256) * 16 + columns // 256], axis=-1).astype(np.uint8)


class TestPlanSize:
    @pytest.mark.parametrize(
        ("size", "longest", "planned"),
        [
            ((4000, 3000), 768, (768, 576)),
            ((3000, 4000), 768, (576, 768)),
            ((1000, 1000), 768, (768, 768)),
            ((769, 500), 768, (768, 499)),
            ((4000, 1), 768, (768, 1)),
            ((1, 20_000), 64, (1, 64)),
            ((20_000, 30), 64, (64, 1)),
        ],
    )
    def test_a_large_picture_is_scaled_to_the_longest_side(
        self, size: tuple[int, int], longest: int, planned: tuple[int, int]
    ) -> None:
        assert plan_size(*size, longest) == planned

    @pytest.mark.parametrize("size", [(1, 1), (300, 200), (768, 768), (767, 1)])
    def test_a_small_picture_is_never_scaled_up(self, size: tuple[int, int]) -> None:
        assert plan_size(*size, 768) == size

    def test_without_a_longest_side_the_size_stays(self) -> None:
        assert plan_size(9000, 17, None) == (9000, 17)

    @pytest.mark.parametrize("width", range(800, 1200, 37))
    def test_the_ratio_stays_within_half_a_pixel(self, width: int) -> None:
        planned = plan_size(width, 611, 768)
        assert abs(planned[1] - planned[0] * 611 / width) <= 0.5

    @pytest.mark.parametrize(("width", "height", "longest"), [(0, 5, 10), (5, -1, 10), (5, 5, 0)])
    def test_no_picture_has_no_pixels(self, width: int, height: int, longest: int) -> None:
        with pytest.raises(ValueError, match="No picture"):
            plan_size(width, height, longest)


class TestResize:
    def test_the_same_size_is_the_same_picture(self) -> None:
        image = noise(9, 5)
        assert resize(image, 9, 5) is image

    @pytest.mark.parametrize(
        ("source", "target"), [((4000, 1), (768, 1)), ((1, 3000), (1, 64)), ((5, 5), (1, 1)), ((1, 1), (3, 2))]
    )
    def test_thin_pictures_keep_their_pixels(self, source: tuple[int, int], target: tuple[int, int]) -> None:
        small = resize(np.full((source[1], source[0], 3), 77, np.uint8), *target)
        assert small.shape == (target[1], target[0], 3)
        assert (small == 77).all()

    @pytest.mark.parametrize("size", [(901, 77), (30, 20)])
    def test_an_alpha_mask_shrinks_as_the_picture_does(self, size: tuple[int, int]) -> None:
        image = noise(*size)
        assert np.array_equal(resize(image[..., 1], 10, 10), resize(image, 10, 10)[..., 1])

    @pytest.mark.parametrize("side", [900, 1300, 2300])
    def test_fine_stripes_become_grey_instead_of_moire(self, side: int) -> None:
        stripes = np.zeros((side, side, 3), np.uint8)
        stripes[:, ::2] = 255
        inner = resize(stripes, 256, 256)[8:-8, 8:-8]
        assert inner.min() >= 122
        assert inner.max() <= 133

    def test_the_averaging_of_large_photos_is_not_seen(self) -> None:
        # Smooth and noisy at once, as photos are; five times too long, so that it is averaged first.
        coarse = Image.fromarray(noise(40, 30)).resize((1000, 750), Image.Resampling.BICUBIC)
        photo = np.clip(np.asarray(coarse).astype(int) + noise(1000, 750, seed=1) // 12, 0, 255).astype(np.uint8)
        exact = np.asarray(Image.fromarray(photo).resize((200, 150), Image.Resampling.LANCZOS)).astype(int)
        error = np.abs(resize(photo, 200, 150) - exact)
        assert error.mean() < 0.6, f"mean {error.mean():.2f}, worst {error.max()} of 255"
        assert error.max() <= 8, f"mean {error.mean():.2f}, worst {error.max()} of 255"


class TestPadding:
    def test_reflection_runs_to_and_fro(self) -> None:
        assert reflected_index(3, 9).tolist() == [0, 1, 2, 1, 0, 1, 2, 1, 0]

    @pytest.mark.parametrize(("length", "padded"), [(1, 8), (2, 7), (5, 9), (30, 512), (8, 8)])
    def test_reflection_is_numpys_where_numpy_has_one(self, length: int, padded: int) -> None:
        expected = np.pad(np.arange(length), (0, padded - length), mode="reflect" if length > 1 else "edge")
        assert reflected_index(length, padded).tolist() == expected.tolist()

    @pytest.mark.parametrize("size", [(1, 1), (2, 2), (1, 3000), (3000, 1), (7, 9), (8, 16), (101, 33)])
    @pytest.mark.parametrize(
        "requirements",
        [MULTIPLE_OF_8, SizeRequirements(32, 256), SizeRequirements(minimum=1), SizeRequirements(fixed=(512, 512))],
    )
    def test_cropping_back_gives_the_very_picture(self, size: tuple[int, int], requirements: SizeRequirements) -> None:
        image = noise(*size)
        padded = pad(image, requirements)
        assert padded.shape[:2] == requirements.padded(*size)[::-1]
        assert np.array_equal(crop(padded, *size), image)

    @pytest.mark.parametrize(
        ("requirements", "size", "padded"),
        [
            (SizeRequirements(8, 8), (1, 17), (8, 24)),
            (SizeRequirements(8, 8), (768, 576), (768, 576)),
            (SizeRequirements(32, 256), (100, 257), (256, 288)),
            (SizeRequirements(32, 250), (100, 100), (256, 256)),
            (SizeRequirements(fixed=(512, 256)), (100, 100), (512, 256)),
            (SizeRequirements(fixed=(512, 256)), (600, 100), (600, 256)),
        ],
    )
    def test_sides_grow_to_what_the_network_takes(
        self, requirements: SizeRequirements, size: tuple[int, int], padded: tuple[int, int]
    ) -> None:
        assert requirements.padded(*size) == padded

    def test_a_window_is_a_piece_of_the_padded_picture(self) -> None:
        image = numbered(101, 53)
        whole = window(image, Area(0, 0, 160, 160))
        for area in (Area(0, 0, 50, 50), Area(90, 10, 160, 60), Area(3, 50, 40, 160), Area(110, 60, 160, 160)):
            expected = whole[area.top : area.bottom, area.left : area.right]
            assert np.array_equal(window(image, area), expected), area

    def test_a_window_inside_the_picture_is_not_copied(self) -> None:
        image = noise(20, 20)
        assert window(image, Area(2, 2, 9, 9)).base is image


class TestPlanSpans:
    PLANS = (
        (SizeRequirements(8, 8), 256, 32, 0, None),
        (SizeRequirements(8, 8), 1024, 112, 0, None),
        (SizeRequirements(16, 16), 512, 32, 64, None),
        (SizeRequirements(32, 256), 520, 48, 16, None),
        (SizeRequirements(fixed=(512, 512)), 1024, 32, 64, 512),
        (SizeRequirements(8, fixed=(512, 512)), 1024, 48, 0, 512),
    )

    @pytest.fixture(params=PLANS, ids=lambda plan: f"{plan[0].multiple_of}-{plan[1]}-{plan[2]}-{plan[3]}-{plan[4]}")
    def plans(self, request: pytest.FixtureRequest) -> list[tuple[int, list[Span], tuple[object, ...]]]:
        requirements, tile, halo, ramp, fixed = request.param
        lengths = [requirements.padded(length, length)[0] for length in LENGTHS]
        return [
            (length, plan_spans(length, requirements, tile=tile, halo=halo, ramp=ramp, fixed=fixed), request.param)
            for length in lengths
        ]

    def test_kept_parts_cover_the_axis_and_share_the_ramp_alone(self, plans) -> None:
        for length, spans, (_, _, _, ramp, _) in plans:
            assert spans[0].keep_start == 0
            assert spans[-1].keep_stop == length
            assert all(first.keep_stop - second.keep_start == ramp for first, second in pairwise(spans)), length

    def test_every_kept_pixel_has_its_halo_or_the_pictures_border(self, plans) -> None:
        for length, spans, (_, _, halo, _, _) in plans:
            for span in spans:
                assert span.keep_start - span.start >= halo or span.start == 0, (length, span)
                assert span.stop - span.keep_stop >= halo or span.stop == length, (length, span)

    def test_reads_begin_in_phase_and_stay_in_the_padded_picture(self, plans) -> None:
        for length, spans, (requirements, _, _, _, _) in plans:
            for span in spans:
                assert span.start % requirements.multiple_of == 0
                assert (span.stop - span.start) % requirements.multiple_of == 0 or requirements.fixed
                assert 0 <= span.start < span.stop <= length

    def test_all_reads_are_of_one_size_that_the_network_takes(self, plans) -> None:
        for length, spans, (requirements, tile, _, _, fixed) in plans:
            sides = {span.stop - span.start for span in spans}
            assert len(sides) == 1, (length, sides)
            side = sides.pop()
            assert side == fixed if fixed else requirements.minimum <= side <= tile

    def test_ramps_of_one_tile_do_not_meet(self, plans) -> None:
        for _, spans, _ in plans:
            assert all(span.fade_in + span.fade_out <= span.keep_stop - span.keep_start for span in spans)

    def test_a_length_just_over_one_tile_takes_two_of_about_half(self) -> None:
        spans = plan_spans(1032, MULTIPLE_OF_8, tile=1024, halo=112, ramp=0, fixed=None)
        assert [span.stop - span.start for span in spans] == [640, 640]

    @pytest.mark.parametrize(("halo", "ramp"), [(128, 0), (125, 0), (64, 72)])
    def test_a_tile_that_could_keep_nothing_is_an_error(self, halo: int, ramp: int) -> None:
        with pytest.raises(ValueError, match="cannot hold a halo"):
            plan_spans(512, MULTIPLE_OF_8, tile=256, halo=halo, ramp=ramp, fixed=None)


class TestPlanTiles:
    def test_tiles_of_a_picture_read_one_shape_and_keep_every_pixel_once(self) -> None:
        tiles = list(plan_tiles(1100, 700, MULTIPLE_OF_8, tile=512, halo=64))
        seen = np.zeros((704, 1104), int)
        for tile in tiles:
            seen[tile.keep.top : tile.keep.bottom, tile.keep.left : tile.keep.right] += 1
        assert (seen == 1).all()
        assert len({(tile.read.width, tile.read.height) for tile in tiles}) == 1

    def test_a_fixed_network_may_have_two_different_sides(self) -> None:
        tiles = plan_tiles(1000, 300, SizeRequirements(fixed=(512, 256)), tile=1024, halo=16)
        assert {(tile.read.width, tile.read.height) for tile in tiles} == {(512, 256)}

    def test_a_thin_panorama_is_one_row_of_tiles(self) -> None:
        tiles = list(plan_tiles(20_000, 1, MULTIPLE_OF_8, tile=1024, halo=112))
        assert {tile.read.height for tile in tiles} == {8}
        assert len(tiles) == 25


class TestTileWeights:
    def test_a_ramp_and_its_mirror_add_to_one(self) -> None:
        ramp = cosine_ramp(64)
        assert np.allclose(ramp + ramp[::-1], 1, atol=1e-6)
        assert (np.diff(ramp) > 0).all()

    def test_tiles_that_share_nothing_have_no_weights(self) -> None:
        assert tile_weights(Tile(Span(0, 64, 0, 64), Span(0, 64, 0, 64))) is None

    def test_laying_tiles_one_over_another_is_their_weighted_mean(self) -> None:
        """Against the plain way: sum of tile times weight over sum of weights, with an accumulator."""
        width, height, ramp = 200, 150, 16
        result = np.full((height, width), np.nan)
        total, weighted = np.zeros((height, width)), np.zeros((height, width))
        requirements = SizeRequirements(2)
        for number, tile in enumerate(plan_tiles(width, height, requirements, tile=70, halo=4, ramp=ramp)):
            area = (slice(tile.keep.top, tile.keep.bottom), slice(tile.keep.left, tile.keep.right))
            value, weights = float(number**2), tile_weights(tile)
            assert weights is not None
            under = np.nan_to_num(result[area])
            result[area] = under + weights[..., 0] * (value - under)
            own = np.outer(_trapezoid(tile.rows), _trapezoid(tile.columns))
            total[area] += own
            weighted[area] += own * value
        assert np.allclose(total, 1, atol=1e-5)
        assert np.allclose(result, weighted, atol=1e-3)


def _trapezoid(span: Span) -> np.ndarray:
    weights = np.ones(span.keep_stop - span.keep_start)
    if span.fade_in:
        weights[: span.fade_in] *= cosine_ramp(span.fade_in)
    if span.fade_out:
        weights[-span.fade_out :] *= cosine_ramp(span.fade_out)[::-1]
    return weights
