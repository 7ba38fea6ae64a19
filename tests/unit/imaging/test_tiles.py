"""Tiles as pure values. What a network makes of them is in tests/unit/inference/test_stylizer.py."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from app.imaging.sizing import SizeRequirements
from app.imaging.tiles import Span, Tile, cosine_ramp, plan_spans, plan_tiles, tile_weights

MULTIPLE_OF_8 = SizeRequirements(multiple_of=8, minimum=8)

# Lengths around every border a plan has: one tile, just over one, and the longest side an upload may have.
LENGTHS = (1, 7, 8, 255, 256, 257, 300, 383, 512, 777, 1025, 4096, 20_000)


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
