"""Faces over their surroundings: with stubs, where and how much; with the built-in networks, that no border shows."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from app.config import PROJECT_ROOT
from app.errors import DeadlineExceeded
from app.imaging.align import inverted, plan_crop, transform
from app.imaging.blend import FEATHER, HALF_HEIGHT, HALF_WIDTH
from app.inference.painter import FINE_AS_IT_IS, INK_SIDE, LEAST_DRAWN, Painted, paint_faces
from app.inference.registry import ModelRegistry
from app.inference.session import OrtSession
from app.inference.stylizer import Stylizer
from app.types import Box, Face, Point, RgbImage
from tests.casebook import case
from tests.unit.imaging.compare import assert_alike, assert_same
from tests.unit.stubs import face_at

Drawing = npt.NDArray[np.float64]


def scenery(width: int, height: int) -> RgbImage:
    y, x = np.mgrid[:height, :width]
    planes = [127 + 90 * np.sin(x / 23 + y / 41), 127 + 90 * np.cos(y / 29), 127 + 90 * np.sin((x - y) / 31)]
    return np.rint(np.stack(planes, axis=-1)).astype(np.uint8)


def unchanged(image: RgbImage) -> RgbImage:
    return image.copy()


def lined(image: RgbImage) -> RgbImage:
    """Draws a dark line across the middle: something that can be found again."""
    drawn = image.copy()
    drawn[image.shape[0] // 2 - 12 : image.shape[0] // 2 + 12] = 0
    return drawn


class Hand:
    """A network that remembers what it was given."""

    def __init__(self, stylize: Callable[[RgbImage], RgbImage] = unchanged) -> None:
        self.stylize = stylize
        self.given: list[RgbImage] = []

    def __call__(self, image: RgbImage) -> RgbImage:
        self.given.append(image)
        return self.stylize(image)


def paint(picture: RgbImage, faces: Sequence[Face], hand: Callable[[RgbImage], RgbImage] = lined) -> RgbImage:
    return paint_faces(picture, picture, faces, hand, face_size=256).image


def radius(face: Face, width: int, height: int) -> Drawing:
    """(height, width): distance from the middle of the mask, 1 at its border."""
    y, x = np.mgrid[:height, :width] + 0.5
    places = transform(inverted(plan_crop(face).to_picture(1)), np.stack([x.ravel(), y.ravel()], axis=1)) - 0.5
    return np.hypot(places[:, 0] * 2 / HALF_WIDTH, places[:, 1] * 2 / HALF_HEIGHT).reshape(height, width)


class TestWhereAFaceGoes:
    picture = scenery(400, 300)
    face = face_at(150, 100, 90)

    def test_a_drawing_that_changes_nothing_leaves_no_trace(self) -> None:
        assert_alike(paint(self.picture, [self.face], unchanged), self.picture, mean=0.2, shift=0.1)

    def test_outside_its_ellipse_not_a_pixel_changes_and_inside_the_drawing_shows(self) -> None:
        changed = (paint(self.picture, [self.face]) != self.picture).any(axis=2)
        distance = radius(self.face, 400, 300)
        assert not changed[distance > 1].any()
        assert changed[distance < 0.9].mean() > 0.5

    def test_neither_the_photo_nor_the_surroundings_are_painted_on(self) -> None:
        picture, surroundings = self.picture.copy(), 255 - self.picture
        before = surroundings.copy()
        paint_faces(picture, surroundings, [self.face], lined, face_size=256)
        assert np.array_equal(picture, self.picture)
        assert np.array_equal(surroundings, before)

    def test_without_faces_the_surroundings_are_the_answer(self) -> None:
        hand = Hand()
        painted = paint_faces(self.picture, self.picture, [], hand, face_size=256)
        assert painted.faces == 0
        assert np.array_equal(painted.image, self.picture)
        assert hand.given == []

    def test_the_crop_comes_from_the_full_picture_at_the_size_asked_for(self) -> None:
        hand = Hand()
        small = cv2.resize(self.picture, (100, 75), interpolation=cv2.INTER_AREA)
        painted = paint_faces(self.picture, small, [self.face], hand, face_size=384)
        assert painted.image.shape == small.shape
        assert [crop.shape for crop in hand.given] == [(384, 384, 3)]
        # 180 px of the upload hold the crop, 45 of the answer: its sharpness tells which it was cut from.
        assert_alike(hand.given[0][192:193, 192], self.picture[137:138, 195], mean=6, shift=6)

    def test_turned_pictures_give_turned_answers(self) -> None:
        turned_face = Face(Box(300 - 190, 150, 90, 90), Point(300 - 136, 177), Point(300 - 136, 213), 0.9)
        upright = paint(self.picture, [self.face])
        turned = paint(np.ascontiguousarray(np.rot90(self.picture, -1)), [turned_face])
        assert_alike(turned, np.ascontiguousarray(np.rot90(upright, -1)), mean=0.3)

    @pytest.mark.parametrize("box", [(-40, 60, 90), (350, 60, 90), (150, -50, 90), (-80, -120, 600)])
    def test_faces_over_the_rim_are_drawn_as_far_as_they_are_seen(self, box: tuple[int, int, int]) -> None:
        hand = Hand(lined)
        painted = paint_faces(self.picture, self.picture, [face_at(*box)], hand, face_size=256)
        assert painted.faces == 1
        assert painted.image.shape == self.picture.shape
        assert hand.given[0].min() > 20, "what lies outside the picture must not be black"

    def test_a_face_beside_the_picture_is_not_drawn(self) -> None:
        assert paint_faces(self.picture, self.picture, [face_at(900, 100, 90)], Hand(), face_size=256).faces == 0

    def test_how_many_are_about_to_be_drawn_is_told_before_the_first(self) -> None:
        picture, told = scenery(400, 300), list[str]()

        def hand(image: RgbImage) -> RgbImage:
            told.append("drawn")
            return image

        faces = [face_at(50, 80, 60), face_at(250, 80, 60), face_at(900, 80, 60)]
        paint_faces(picture, picture, faces, hand, face_size=256, tell=lambda count: told.append(str(count)))
        assert told == ["2", "drawn", "drawn"]

    def test_a_deadline_is_kept_between_faces(self) -> None:
        hand = Hand()

        def checkpoint() -> None:
            if hand.given:
                raise DeadlineExceeded(seconds=1)

        faces = [face_at(60, 100, 60), face_at(260, 100, 60)]
        with pytest.raises(DeadlineExceeded):
            paint_faces(self.picture, self.picture, faces, hand, face_size=256, checkpoint=checkpoint)
        assert len(hand.given) == 1


class TestMemory:
    def test_of_a_large_picture_one_copy_is_made_and_that_only_for_faces(self) -> None:
        surroundings = np.full((3000, 4000, 3), 128, np.uint8)
        for faces, copies in (([], 0), ([face_at(1000, 1000, 100)], 1)):
            tracemalloc.start()
            paint_faces(surroundings, surroundings, faces, unchanged, face_size=256)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < (copies + 0.3) * surroundings.nbytes


class TestFacesThatOverlap:
    picture = scenery(400, 300)

    def test_the_same_face_twice_looks_like_the_face_once(self) -> None:
        face = face_at(150, 100, 90)
        once, twice = paint(self.picture, [face]), paint(self.picture, [face, face])
        # Where two masks of less than a half meet, both are seen in full; nowhere is more than one whole face.
        inside = radius(face, 400, 300) < 1 - FEATHER
        assert_same(twice[inside], once[inside])
        step_once = np.abs(once.astype(int) - self.picture).max()
        assert np.abs(twice.astype(int) - self.picture).max() <= step_once + 1

    def test_their_order_does_not_matter(self) -> None:
        faces = [face_at(120, 100, 90), face_at(180, 110, 90)]
        assert_same(paint(self.picture, faces), paint(self.picture, faces[::-1]))


class TestInk:
    picture = scenery(600, 500)
    face = face_at(200, 150, 120)

    def draw(self, hand: Hand, ink: Hand | None, **options: bool) -> Painted:
        return paint_faces(self.picture, self.picture, [self.face], hand, face_size=512, ink=ink, **options)

    def test_it_goes_over_the_drawing_under_the_mask_alone(self) -> None:
        ink = Hand()
        self.draw(Hand(), ink)
        ((height, width, _),) = [image.shape for image in ink.given]
        assert HALF_WIDTH * INK_SIDE < width < INK_SIDE
        assert HALF_HEIGHT * INK_SIDE < height <= INK_SIDE

    def test_its_light_and_shade_show_and_its_colours_do_not(self) -> None:
        plain = self.draw(Hand(), None).image.astype(int)

        def redden(image: RgbImage) -> RgbImage:
            reddened = np.clip(image.astype(np.int16) - (0, 50, 50), 0, 255).astype(np.uint8)
            return np.where(lined(image) == 0, reddened, image)

        red = Hand(redden)
        inked = self.draw(Hand(), red).image.astype(int)
        step = (inked - plain)[200, 260]
        assert step.max() < -15
        assert np.ptp(step) <= 2

    def test_a_face_of_few_pixels_is_left_to_the_ink(self) -> None:
        hand, ink = Hand(), Hand()
        few = face_at(200, 150, LEAST_DRAWN - 4)
        assert paint_faces(self.picture, self.picture, [few], hand, face_size=512, ink=ink).faces == 1
        assert hand.given == []
        assert [image.shape for image in ink.given] == [(256, 256, 3)]

    def test_a_face_style_alone_draws_small_faces_itself(self) -> None:
        hand = Hand()
        paint_faces(self.picture, self.picture, [face_at(200, 150, 34)], hand, face_size=512)
        assert [image.shape for image in hand.given] == [(512, 512, 3)]

    @pytest.mark.parametrize(("side", "drawn"), [(60, 1), (120, 1), (180, 0)])
    def test_a_scenery_style_draws_again_only_what_it_saw_too_small(self, side: int, drawn: int) -> None:
        assert (2 * side >= FINE_AS_IT_IS * 512) == (drawn == 0)
        hand = Hand()
        face = face_at(200, 150, side)
        painted = paint_faces(self.picture, self.picture, [face], hand, face_size=512, same_hand=True)
        assert painted.faces == 1
        assert len(hand.given) == drawn


# With the built-in networks


@cache
def built_in(style: str) -> Callable[[RgbImage], RgbImage]:
    entry = ModelRegistry.load(PROJECT_ROOT / "models").styles[style]
    stylizer = Stylizer(entry.card, OrtSession(entry.path, entry.card, threads=2))
    return lambda image: stylizer.stylize(image)


@cache
def treated(name: str, faces: tuple[Face, ...]) -> tuple[RgbImage, RgbImage]:
    """The answer for that case, and the same without its faces treated."""
    picture = cv2.imread(str(case(name).path))[..., ::-1].copy()
    surroundings = built_in("hayao")(picture)
    painted = paint_faces(
        picture, surroundings, faces, built_in("cute"), face_size=512, ink=built_in("hayao")
    )  # fmt: skip
    assert painted.faces == len(faces)
    return painted.image, surroundings


FACE = Face(Box(173, 72, 101, 101), Point(204, 102), Point(247, 103), 0.9)
"""Where the detector finds it in the cases of 512 px made from the same photo."""

SEAMS = ("seam_gradient.png", "seam_stripes.png", "face_one.png", "occluded_scarf.png")


def gradient(image: npt.NDArray[np.generic]) -> Drawing:
    """(H, W): length of the gradient, mean of the channels, in levels a pixel."""
    down, across = np.gradient(image.astype(np.float64), axis=(0, 1))
    return np.hypot(down, across).mean(axis=2)


def gradient_across(image: RgbImage) -> Drawing:
    """(512, 512): the gradient's part straight across the mask's border, without sign, mean of the channels."""
    down, across = np.gradient(image.astype(np.float64), axis=(0, 1))
    normal_down, normal_across = np.gradient(from_border()[0])
    length = np.hypot(normal_down, normal_across)
    return np.abs(down * (normal_down / length)[..., None] + across * (normal_across / length)[..., None]).mean(axis=2)


@cache
def from_border() -> tuple[Drawing, Drawing]:
    """(512, 512) each: the radius of FACE's mask, and how many pixels a place is outside its border."""
    distance = radius(FACE, 512, 512)
    return distance, (distance - 1) / np.hypot(*np.gradient(distance))


@pytest.mark.parametrize("name", SEAMS)
def test_the_face_is_drawn_anew_and_nothing_else_changes(name: str) -> None:
    result, surroundings = treated(name, (FACE,))
    difference = np.abs(result.astype(int) - surroundings)
    distance, _ = from_border()
    assert difference[distance > 1].max() == 0
    assert difference[distance < 0.6].mean() > 6


@pytest.mark.parametrize("name", SEAMS)
def test_across_the_border_there_is_no_step(name: str) -> None:
    result, surroundings = treated(name, (FACE,))
    steps = gradient(result.astype(np.float64) - surroundings)
    _, outside = from_border()

    def step_at(pixels: float) -> float:
        return float(steps[np.abs(outside - pixels) < 1].mean())

    border = max(step_at(pixels) for pixels in (-2, -1, 0, 1, 2))
    assert border < 1.5 * (step_at(-8) + step_at(8)) / 2


@pytest.mark.parametrize("name", SEAMS)
def test_no_line_along_the_ring_is_rougher_than_without_blending(name: str) -> None:
    result, surroundings = treated(name, (FACE,))
    _, outside = from_border()
    feather = round(FEATHER * HALF_WIDTH * plan_crop(FACE).side / 2)
    after, before = gradient_across(result), gradient_across(surroundings)
    ratios = {}
    for pixels in range(-feather, 3):
        band = np.abs(outside - pixels) < 1
        ratios[pixels] = after[band].mean() / before[band].mean()
    assert max(ratios.values()) < 1.1, {pixels: round(float(ratio), 2) for pixels, ratio in ratios.items()}


def test_stripes_run_on_across_the_border() -> None:
    result, surroundings = (
        cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float64) for image in treated("seam_stripes.png", (FACE,))
    )
    distance, _ = from_border()
    window = cv2.createHanningWindow((32, 32), cv2.CV_64F)
    looked_at = 0
    for y in range(16, 260, 16):
        for x in range(96, 344, 16):
            patch = np.s_[y : y + 32, x : x + 32]
            inside_ring = (distance[patch] > 0.75) & (distance[patch] < 1)
            if inside_ring.mean() > 0.5 and result[patch].std() > 12:
                (dx, dy), _ = cv2.phaseCorrelate(surroundings[patch], result[patch], window)
                assert np.hypot(dx, dy) < 1, f"stripes at ({x}, {y}) are {np.hypot(dx, dy):.1f} px off"
                looked_at += 1
    assert looked_at >= 5


def test_dark_skin_stays_dark() -> None:
    inside = from_border()[0] < 0.5

    def lightness(image: RgbImage) -> float:
        return float(cv2.cvtColor(image, cv2.COLOR_RGB2LAB)[..., 0][inside].mean() / 2.55)

    (light, light_before), (dark, dark_before) = (
        treated(name, (FACE,)) for name in ("face_one.png", "skin_proxy_mid.png")
    )
    assert lightness(dark) == pytest.approx(lightness(dark_before), abs=3)
    assert lightness(light) - lightness(dark) > 0.8 * (lightness(light_before) - lightness(dark_before)) > 10


def test_two_mirrored_faces_come_out_alike() -> None:
    faces = (
        Face(Box(749, 71, 102, 102), Point(1023 - 247, 103), Point(1023 - 204, 102), 0.9),
        Face(Box(173, 71, 102, 102), Point(204, 102), Point(247, 103), 0.9),
    )
    result, surroundings = treated("faces_two.png", faces)
    seen = radius(faces[1], 512, 512) < 1 - FEATHER

    def left_and_mirrored_right(image: RgbImage) -> tuple[RgbImage, RgbImage]:
        return image[:, :512][seen], image[:, 512:][:, ::-1][seen]

    # The networks themselves are not quite the same left and right: the surroundings tell how much.
    own = np.abs(np.subtract(*left_and_mirrored_right(surroundings), dtype=np.int16)).mean()
    assert_alike(*left_and_mirrored_right(result), mean=1.5 * own, shift=1.0)
