"""Pictures through networks and back: stubs show the arithmetic, the built-in and the reference networks the rest."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.errors import DeadlineExceeded
from app.imaging.sizing import SizeRequirements, pad
from app.inference.card import ModelCard
from app.inference.registry import ModelRegistry
from app.inference.session import OrtSession
from app.inference.stylizer import RAMP, TILE_SIDE, Stylizer, plan_runs
from app.types import RgbImage, Session, Tensor

ROOT = Path(__file__).parents[3]

REGISTRY = ModelRegistry.load(ROOT / "models", with_added=False)

# The networks the built-in ones were made from, for who has them there: they may not be passed on.
REFERENCE = Path(os.environ.get("REFERENCE_NETWORKS", ROOT / "out" / "reference"))

STUB = replace(REGISTRY.card("hayao"), id="stub", sizes=SizeRequirements(), local=True, halo=0)


def noise(width: int, height: int, seed: int = 0) -> RgbImage:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def scenery(width: int, height: int) -> RgbImage:
    """Edges, slopes and grain, as photos have."""
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / 17 + y / 31), np.cos(x / 11), np.sign(np.sin((x - y) / 23))], axis=-1)
    return np.clip(127 + 90 * waves + noise(width, height) / 12, 0, 255).astype(np.uint8)


class Stub:
    """A network that answers with ``answer`` of its input, and remembers what it was given."""

    def __init__(self, answer: Callable[[Tensor], Tensor] = np.copy) -> None:
        self.answer = answer
        self.shapes: list[tuple[int, ...]] = []
        self.last: Tensor = np.empty(0, np.float32)

    def run(self, tensor: Tensor) -> Tensor:
        assert tensor.dtype == np.float32
        assert tensor.flags.c_contiguous
        self.shapes.append(tensor.shape)
        self.last = tensor
        return self.answer(tensor)


@cache
def built_in(style: str) -> tuple[ModelCard, Session]:
    entry = REGISTRY.styles[style]
    return entry.card, OrtSession(entry.path, entry.card, threads=2)


def worst(first: RgbImage, second: RgbImage) -> int:
    return int(np.abs(first.astype(int) - second).max())


class TestWhatTheNetworkIsGiven:
    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    @pytest.mark.parametrize("order", ["RGB", "BGR"])
    @pytest.mark.parametrize("ends", [(-1.0, 1.0), (0.0, 1.0), (0.0, 255.0), (-0.5, 0.5)])
    def test_every_level_goes_there_and_back_unchanged(
        self, layout: Any, order: Any, ends: tuple[float, float]
    ) -> None:
        levels = np.arange(256, dtype=np.uint8).reshape(16, 16)
        image = np.stack([levels, levels.T, levels[::-1]], axis=-1)
        card = replace(STUB, layout=layout, channel_order=order, input_range=ends, output_range=ends)
        assert np.array_equal(Stylizer(card, Stub()).stylize(image), image)

    @pytest.mark.parametrize("order", ["RGB", "BGR"])
    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    def test_channels_and_axes_stand_where_the_card_says(self, layout: Any, order: Any) -> None:
        network = Stub()
        image = np.zeros((2, 4, 3), np.uint8)
        image[0, 1] = (255, 51, 102)
        card = replace(STUB, layout=layout, channel_order=order, input_range=(0.0, 1.0), output_range=(0.0, 1.0))
        Stylizer(card, network).stylize(image)
        assert network.shapes == [(1, 3, 2, 4) if layout == "NCHW" else (1, 2, 4, 3)]
        pixel = network.last[0, :, 0, 1] if layout == "NCHW" else network.last[0, 0, 1]
        assert np.allclose(pixel, (1.0, 0.2, 0.4) if order == "RGB" else (0.4, 0.2, 1.0))

    @pytest.mark.parametrize(("ends", "expected"), [((-1.0, 1.0), (-1, 1)), ((0.0, 1.0), (0, 1)), ((2.0, 6.0), (2, 6))])
    def test_black_and_white_are_the_ends_of_its_range(self, ends: Any, expected: tuple[int, int]) -> None:
        network = Stub()
        Stylizer(replace(STUB, input_range=ends), network).stylize(np.array([[[0] * 3, [255] * 3]], np.uint8))
        assert (network.last[0, :, 0, 0] == expected[0]).all()
        assert (network.last[0, :, 0, 1] == expected[1]).all()

    @pytest.mark.parametrize("size", [(1, 1), (2, 2), (1, 70), (70, 1), (17, 24)])
    def test_sides_are_padded_to_its_needs_and_cropped_back(self, size: tuple[int, int]) -> None:
        network = Stub()
        card = replace(STUB, sizes=SizeRequirements(multiple_of=16, minimum=32))
        image = noise(*size)
        assert np.array_equal(Stylizer(card, network).stylize(image), image)
        height, width = network.shapes[0][2:]
        assert width % 16 == height % 16 == 0
        assert width >= max(32, size[0])
        assert height >= max(32, size[1])

    def test_views_and_locked_pictures_are_taken_and_left_as_they_are(self) -> None:
        image = noise(40, 30)
        image.flags.writeable = False
        for view in (image[3:20, 5:30], image[::-1, ::2], image):
            before = view.copy()
            assert np.array_equal(Stylizer(STUB, Stub()).stylize(view), before)
            assert np.array_equal(view, before)


class TestWhatBecomesOfItsAnswer:
    @pytest.mark.parametrize(
        ("value", "level"),
        [(-3.0, 0), (-1.0, 0), (0.0, 128), (1.0, 255), (7.0, 255), (-1 + 0.9 / 127.5, 1), (-1 + 0.4 / 127.5, 0)],
    )
    def test_it_is_clipped_and_rounded_to_the_nearest_level(self, value: float, level: int) -> None:
        network = Stub(lambda tensor: np.full_like(tensor, value))
        assert (Stylizer(STUB, network).stylize(noise(8, 8)) == level).all()

    @pytest.mark.parametrize("nothing", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    def test_where_it_is_no_number_the_photo_shows(self, nothing: float, layout: Any) -> None:
        def fail_at_one_pixel(tensor: Tensor) -> Tensor:
            answer = np.full_like(tensor, -1)
            place = (0, 1, 2, 3) if layout == "NCHW" else (0, 2, 3, 1)
            answer[place] = nothing
            return answer

        image = noise(8, 8)
        result = Stylizer(replace(STUB, layout=layout), Stub(fail_at_one_pixel)).stylize(image)
        assert np.array_equal(result[2, 3], image[2, 3])
        result[2, 3] = 0
        assert not result.any()

    def test_the_result_is_a_picture_of_its_own(self) -> None:
        result = Stylizer(replace(STUB, sizes=SizeRequirements(8)), Stub()).stylize(noise(13, 9))
        assert result.shape == (9, 13, 3)
        assert result.dtype == np.uint8
        assert result.flags.c_contiguous
        assert result.flags.writeable


class TestWholeOrTiled:
    def test_up_to_the_limit_it_is_one_run(self) -> None:
        network = Stub()
        Stylizer(STUB, network).stylize(noise(1024, 40))
        assert network.shapes == [(1, 3, 40, 1024)]

    def test_above_the_limit_it_is_several_of_one_shape(self) -> None:
        network = Stub()
        image = noise(1040, 1030)
        assert np.array_equal(Stylizer(replace(STUB, halo=112), network).stylize(image), image)
        assert len(network.shapes) == 4
        assert len(set(network.shapes)) == 1

    @pytest.mark.parametrize("size", [(700, 300), (100, 90), (512, 512), (513, 40), (1, 1)])
    def test_a_fixed_network_gets_its_sides_and_never_a_squashed_picture(self, size: tuple[int, int]) -> None:
        network = Stub()
        card = replace(STUB, sizes=SizeRequirements(fixed=(512, 256)), halo=16)
        image = noise(*size)
        assert np.array_equal(Stylizer(card, network).stylize(image), image)
        assert set(network.shapes) == {(1, 3, 256, 512)}

    def test_the_checkpoint_is_passed_before_every_run(self) -> None:
        network = Stub()
        counted: list[int] = []
        Stylizer(STUB, network, tile=64, whole_limit=64).stylize(
            noise(200, 64), lambda: counted.append(len(network.shapes))
        )
        assert counted == [0, 1, 2, 3]

    @pytest.mark.parametrize("size", [(203, 149), (1024, 8), (1025, 700), (300, 2000)])
    @pytest.mark.parametrize(
        "sizes", [SizeRequirements(8, 8), SizeRequirements(fixed=(512, 256))], ids=["any", "fixed"]
    )
    def test_the_plan_of_runs_is_what_is_run(self, size: tuple[int, int], sizes: SizeRequirements) -> None:
        card, stub = replace(STUB, sizes=sizes, halo=16), Stub()
        Stylizer(card, stub).stylize(noise(*size))
        areas = [height * width for _, _, height, width in stub.shapes]
        runs = plan_runs(card, *size)
        assert (runs.pixels, runs.largest) == (sum(areas), max(areas))

    def test_with_a_step_many_ratios_share_a_shape_and_come_back_whole(self) -> None:
        card, stub = replace(STUB, sizes=SizeRequirements(multiple_of=8, minimum=8)), Stub()
        for width in (130, 144, 192):
            image = noise(width, 100)
            assert np.array_equal(Stylizer(card, stub, shape_step=64).stylize(image), image)
            assert plan_runs(card, width, 100, shape_step=64).pixels == 192 * 128
        assert set(stub.shapes) == {(1, 3, 128, 192)}

    def test_a_step_never_makes_sides_that_a_network_does_not_take(self) -> None:
        odd, stub = replace(STUB, sizes=SizeRequirements(multiple_of=12, minimum=12)), Stub()
        Stylizer(odd, stub, shape_step=8).stylize(noise(25, 20))
        fixed = replace(STUB, sizes=SizeRequirements(fixed=(40, 24)))
        Stylizer(fixed, stub, shape_step=64).stylize(noise(25, 20))
        assert stub.shapes == [(1, 3, 24, 48), (1, 3, 24, 40)]

    def test_each_run_gets_its_turn_with_the_checkpoint_of_its_picture(self) -> None:
        turns = []

        def in_turn(tensor: Tensor, checkpoint: Callable[[], None]) -> Tensor:
            turns.append(checkpoint)
            return tensor

        def checkpoint() -> None:
            pass

        image = noise(300, 20)
        result = Stylizer(STUB, Stub(), tile=256, whole_limit=256, in_turn=in_turn).stylize(image, checkpoint)
        assert np.array_equal(result, image)
        assert turns == [checkpoint, checkpoint]

    def test_a_passed_deadline_stops_between_tiles(self) -> None:
        network = Stub()

        def stop_after_two() -> None:
            if len(network.shapes) == 2:
                raise DeadlineExceeded(seconds=1)

        with pytest.raises(DeadlineExceeded):
            Stylizer(STUB, network, tile=64, whole_limit=64).stylize(noise(300, 300), stop_after_two)
        assert len(network.shapes) == 2

    @pytest.mark.parametrize("local", [True, False])
    def test_memory_does_not_grow_with_the_picture(self, local: bool) -> None:
        card = replace(STUB, sizes=SizeRequirements(8), halo=16, local=local)
        beyond = {}
        for sides in ((600, 600), (2400, 1800)):
            network = Stub()
            image = np.zeros((*sides[::-1], 3), np.uint8)
            tracemalloc.start()
            result = Stylizer(card, network, tile=256, whole_limit=256).stylize(image)
            beyond[sides] = tracemalloc.get_traced_memory()[1] - result.nbytes
            tracemalloc.stop()
            assert max(np.prod(shape) for shape in network.shapes) <= 3 * 256 * 256
        small, large = beyond.values()
        assert large < 1.2 * small, f"{small} bytes beyond the result for the small picture, {large} for the large one"


class TestTilesOfTheBuiltInNetworks:
    @pytest.mark.parametrize("style", REGISTRY.styles)
    @pytest.mark.parametrize(
        ("size", "tile"), [((467, 331), 320), ((611, 93), 296), ((93, 611), 296), ((321, 325), 320)]
    )
    def test_tiled_is_whole_within_one_level(self, style: str, size: tuple[int, int], tile: int) -> None:
        card, session = built_in(style)
        image = scenery(*size)
        whole = Stylizer(card, session).stylize(image)
        tiled = Stylizer(card, session, tile=tile, whole_limit=tile).stylize(image)
        assert worst(whole, image) > 20, "the network does nothing: this would prove nothing"
        assert worst(whole, tiled) <= 1, f"worst {worst(whole, tiled)} of 255"

    @pytest.mark.parametrize("style", REGISTRY.styles)
    def test_a_smaller_halo_would_show(self, style: str) -> None:
        card, session = built_in(style)
        image = scenery(467, 331)
        whole = Stylizer(card, session).stylize(image)
        tiled = Stylizer(replace(card, halo=8), session, tile=192, whole_limit=192).stylize(image)
        assert worst(whole, tiled) > 1

    @pytest.mark.parametrize("style", REGISTRY.styles)
    def test_nothing_beyond_the_halo_reaches_a_pixel(self, style: str) -> None:
        """By perturbation: all that lies further than the halo from the middle changes, the middle does not."""
        card, session = built_in(style)
        assert card.local
        step, halo = card.sizes.multiple_of, card.halo
        rim = 48
        side = 2 * (halo + rim) + step
        first, second = (
            np.random.default_rng(seed).uniform(-1, 1, (1, 3, side, side)).astype(np.float32) for seed in (1, 2)
        )
        inner = (..., slice(rim, side - rim), slice(rim, side - rim))
        second[inner] = first[inner]
        change = np.abs(session.run(first) - session.run(second)).max(axis=(0, 1))
        middle = slice(halo + rim, halo + rim + step)
        assert change[middle, middle].max() == 0
        assert change[:rim, :rim].max() > 0.1

    @pytest.mark.parametrize("style", REGISTRY.styles)
    def test_a_tile_side_leaves_room_for_the_halo(self, style: str) -> None:
        assert TILE_SIDE - 2 * REGISTRY.card(style).halo >= TILE_SIDE / 2


class TestTilesOfNetworksThatSeeTheWholePicture:
    def test_a_difference_in_tone_becomes_a_slope(self) -> None:
        """A network whose every tile comes out in another tone, by as much as there is between black and white."""
        tones = iter([-1.0, 1.0] * 50)
        network = Stub(lambda tensor: np.full_like(tensor, next(tones)))
        card = replace(STUB, local=False, halo=16)
        result = Stylizer(card, network, tile=224, whole_limit=224).stylize(noise(700, 600)).astype(int)
        steepest = np.pi / 2 / RAMP * 255
        assert result.max() - result.min() == 255
        for axis in (0, 1):
            assert np.abs(np.diff(result, axis=axis)).max() <= steepest + 2

    def test_equal_tiles_leave_no_trace(self) -> None:
        network = Stub(lambda tensor: np.full_like(tensor, 0.25))
        card = replace(STUB, local=False, halo=16)
        result = Stylizer(card, network, tile=224, whole_limit=224).stylize(noise(700, 600))
        assert len(np.unique(result)) == 1

    def test_pixels_that_agree_come_back_unchanged(self) -> None:
        image = noise(701, 603)
        card = replace(STUB, local=False, halo=16)
        assert np.array_equal(Stylizer(card, Stub(), tile=224, whole_limit=224).stylize(image), image)


REFERENCES: dict[str, dict[str, Any]] = {
    "AnimeGANv3_Shinkai_37.onnx": {"sizes": SizeRequirements(multiple_of=8, minimum=8)},
    "AnimeGANv3_tiny_Cute.onnx": {"sizes": SizeRequirements(multiple_of=16, minimum=16)},
    "AnimeGANv3_Hayao_36.onnx": {"sizes": SizeRequirements(fixed=(512, 512))},
}


@cache
def reference(file: str) -> tuple[ModelCard, Session]:
    import onnxruntime

    ends = onnxruntime.InferenceSession(REFERENCE / file, providers=["CPUExecutionProvider"])
    card = replace(
        STUB,
        id=file,
        layout="NHWC",
        input_name=ends.get_inputs()[0].name,
        output_name=ends.get_outputs()[0].name,
        local=False,
        halo=32,
        **REFERENCES[file],
    )
    return card, OrtSession(REFERENCE / file, card, threads=2)


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference networks are not here")
@pytest.mark.parametrize("file", REFERENCES)
class TestTheReferenceNetworks:
    def test_a_picture_keeps_its_sides_and_its_content(self, file: str) -> None:
        card, session = reference(file)
        image = scenery(203, 149)
        result = Stylizer(card, session).stylize(image)
        assert result.shape == image.shape
        assert np.corrcoef(result.ravel(), image.ravel())[0, 1] > 0.8
        assert worst(result, image) > 20

    def test_a_picture_in_one_piece_is_the_bare_network(self, file: str) -> None:
        card, session = reference(file)
        image = scenery(203, 149)
        padded = pad(image, card.sizes)
        bare = session.run((padded / np.float32(127.5) - 1).astype(np.float32)[np.newaxis])[0]
        expected = np.rint((bare.clip(-1, 1) + 1) * 127.5).astype(np.uint8)[:149, :203]
        assert worst(Stylizer(card, session).stylize(image), expected) <= 1

    def test_tiles_meet_without_a_seam(self, file: str) -> None:
        """The step across every line of the picture, in the mean along it: no line may stand out of the others."""
        card, session = reference(file)
        y, x = np.mgrid[:300, :700]
        image = np.stack([x * 255 // 700, y * 255 // 300, (x + y) * 255 // 1000], axis=-1).astype(np.uint8)
        result = Stylizer(card, session, tile=320, whole_limit=320).stylize(image).astype(int)
        steps = np.abs(np.diff(result, axis=1).mean(axis=(0, 2)))
        assert steps.max() < 3, f"a step of {steps.max():.1f} of 255 at column {steps.argmax()}"
