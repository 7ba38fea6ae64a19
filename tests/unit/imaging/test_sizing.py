"""Sizes, the resizing filter and padding by reflection."""

from __future__ import annotations

from threading import current_thread, main_thread

import numpy as np
import pytest
from PIL import Image

from app.imaging.sizing import (
    WORTH_A_THREAD,
    Area,
    SizeRequirements,
    crop,
    pad,
    plan_size,
    reflected_index,
    resize,
    window,
)
from app.types import RgbImage

MULTIPLE_OF_8 = SizeRequirements(multiple_of=8, minimum=8)


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

    @pytest.mark.parametrize(
        ("source", "target"),
        [((1280, 960), (768, 576)), ((1001, 1499), (513, 768)), ((810, 799), (409, 401)), ((613, 1530), (308, 768))],
    )
    def test_two_threads_make_the_picture_that_one_makes(
        self, source: tuple[int, int], target: tuple[int, int]
    ) -> None:
        assert target[0] * target[1] >= WORTH_A_THREAD
        image = noise(*source)
        alone = np.asarray(Image.fromarray(image).resize(target, Image.Resampling.LANCZOS))
        error = np.abs(resize(image, *target).astype(int) - alone)
        # Pillow has single precision for where the lower half begins: a sum on the edge is rounded to the other side.
        assert error.max() <= 1
        assert error.mean() < 1e-3

    def test_what_fails_in_the_second_thread_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = Image.fromarray

        def fails(rows: RgbImage) -> Image.Image:
            if current_thread() is not main_thread():
                raise MemoryError
            return whole(rows)

        monkeypatch.setattr(Image, "fromarray", fails)
        with pytest.raises(MemoryError):
            resize(noise(800, 800), 400, 400)


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
