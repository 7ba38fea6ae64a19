"""Masks, tones and strokes: what hides the border of a face."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from app.imaging.align import FaceCrop, inverted
from app.imaging.blend import ellipse_weights, ellipse_window, mix, shaded, smooth_step, stepped, toned_step
from app.types import Point, RgbImage, Weights
from tests.unit.imaging.compare import assert_alike, assert_same


def weights_of(crop: FaceCrop, width: int = 300, height: int = 300) -> Weights:
    return ellipse_weights(inverted(crop.to_picture(1)), width, height)


def grain(height: int, width: int, seed: int = 0) -> RgbImage:
    return np.random.default_rng(seed).integers(60, 190, (height, width, 3), np.uint8)


class TestMask:
    def test_it_is_one_in_the_middle_nothing_at_the_square_and_falls_all_the_way(self) -> None:
        weights = weights_of(FaceCrop(Point(150, 150), 200, 0.0))
        assert weights[150, 150] == 1.0
        assert weights[150, 50] == weights[50, 150] == weights[60, 60] == 0.0
        along = weights[150, 150:]
        assert (np.diff(along) <= 0).all()

    def test_it_is_taller_than_wide_and_turns_with_the_face(self) -> None:
        upright = weights_of(FaceCrop(Point(150, 150), 200, 0.0))
        on_its_side = weights_of(FaceCrop(Point(150, 150), 200, np.pi / 2))
        assert (upright[:, 150] > 0).sum() > 1.15 * (upright[150] > 0).sum()
        assert np.allclose(on_its_side, upright.T, atol=1e-4)

    @pytest.mark.parametrize("side", [60, 240])
    def test_its_feather_scales_with_the_face(self, side: int) -> None:
        weights = weights_of(FaceCrop(Point(150, 150), side, 0.0))[150, 150:]
        feather = ((weights > 0.001) & (weights < 0.999)).sum()
        assert 0.06 * side < feather < 0.1 * side

    def test_its_slope_starts_and_ends_flat(self) -> None:
        t = np.linspace(-0.5, 1.5, 2001, dtype=np.float32)
        slope = np.gradient(smooth_step(t), t)
        assert slope.max() == pytest.approx(1.875, abs=0.01)
        assert abs(slope[500:520]).max() < 0.02
        assert abs(slope[1480:1500]).max() < 0.02

    @pytest.mark.parametrize("angle", [0.0, 0.6, 1.4])
    @pytest.mark.parametrize("centre", [Point(150, 150), Point(5, 290), Point(-40, 150)])
    def test_the_window_holds_every_weight(self, angle: float, centre: Point) -> None:
        crop = FaceCrop(centre, 170, angle)
        everywhere = weights_of(crop)
        x0, y0, x1, y1 = ellipse_window(crop.to_picture(1), 300, 300)
        assert everywhere.any()
        assert everywhere[y0:y1, x0:x1].sum() == pytest.approx(everywhere.sum())

    def test_a_face_beside_the_picture_has_an_empty_window(self) -> None:
        x0, y0, x1, y1 = ellipse_window(FaceCrop(Point(900, 150), 100, 0.0).to_picture(1), 300, 300)
        assert (x1 - x0) * (y1 - y0) == 0


class TestTone:
    weights = weights_of(FaceCrop(Point(100, 100), 200, 0.0), 200, 200)

    def test_a_face_that_differs_in_tone_alone_adds_nothing(self) -> None:
        surroundings = grain(200, 200)
        for tint in ((30, 30, 30), (-40, 0, 35)):
            face = np.clip(surroundings.astype(int) + tint, 0, 255).astype(np.uint8)
            assert np.abs(toned_step(face, surroundings, self.weights)).max() < 0.1

    def test_a_slow_change_of_light_is_evened_out_and_lines_are_kept(self) -> None:
        surroundings = np.full((200, 200, 3), 120, np.uint8)
        face = np.clip(np.linspace(80, 160, 200)[None, :, None] + np.zeros((200, 1, 3)), 0, 255).astype(np.uint8)
        face[:, 98:102] = 10
        step = toned_step(face, surroundings, self.weights)
        assert step[100, 100].max() < -70
        assert np.abs(step[100, [40, 60, 140, 160]]).max() < 20

    def test_a_mask_over_the_mouth_keeps_its_colour(self) -> None:
        surroundings = np.full((200, 200, 3), (220, 180, 160), np.uint8)
        surroundings[110:170, 50:150] = (165, 205, 230)
        face = surroundings.copy()
        face[110:170, 50:150] = (120, 200, 205)
        face[:110] = (240, 170, 150)
        seen = stepped(surroundings, toned_step(face, surroundings, self.weights), np.ones((200, 200), np.float32))
        assert np.abs(seen[140, 100].astype(int) - surroundings[140, 100]).max() < 16

    @pytest.mark.parametrize("size", [(1, 1), (3, 2), (1, 90)])
    def test_windows_of_few_pixels_have_a_tone_too(self, size: tuple[int, int]) -> None:
        step = toned_step(grain(*size), grain(*size, seed=1), np.ones(size, np.float32))
        assert step.shape == (*size, 3)
        assert np.isfinite(step).all()


class TestLayers:
    def test_a_step_counts_to_its_share_and_saturates(self) -> None:
        image = np.full((1, 4, 3), 200, np.uint8)
        step = np.full((1, 4, 3), 100, np.float32)
        share = np.array([[0.0, 0.25, 1.0, 0.004]], np.float32)
        assert stepped(image, step, share)[0, :, 0].tolist() == [200, 225, 255, 200]

    def test_ink_gives_luminance_and_leaves_the_colour(self) -> None:
        drawing = np.full((8, 8, 3), (180, 120, 100), np.uint8)
        inked = np.full((8, 8, 3), (90, 90, 90), np.uint8)
        result = shaded(drawing, inked)
        assert int(cv2.cvtColor(result, cv2.COLOR_RGB2GRAY)[0, 0]) == pytest.approx(90, abs=1)
        assert (result[0, 0].astype(int) - result[0, 0, 0]).tolist() == [0, -60, -80]

    def test_ink_that_changes_nothing_changes_nothing(self) -> None:
        drawing = grain(20, 30)
        assert_same(shaded(drawing, drawing), drawing)

    def test_strength_goes_from_the_photo_to_the_drawing(self) -> None:
        photo, drawing = grain(20, 30), grain(20, 30, seed=1)
        assert_same(mix(photo, drawing, 0.0), photo)
        assert_same(mix(photo, drawing, 1.0), drawing)
        half = (photo.astype(np.float32) + drawing) / 2
        assert_alike(mix(photo, drawing, 0.5), half.astype(np.uint8), mean=0.6)
