"""One conversion, from the upload's bytes to the answer's, with networks that answer with the negative."""

import threading
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from app.conversion import STAGES
from app.deadline import Deadline
from app.errors import (
    BrokenImage,
    ClientGone,
    DeadlineExceeded,
    FacesUnavailable,
    InvalidOption,
    NoFaceFound,
    UnsupportedImage,
)
from app.options import ConvertOptions
from app.types import Face, RgbImage
from tests.unit.stubs import Dark, FixedDetector, Workshop, case, face_at, photo, pixels, png, started


def test_the_answer_is_what_the_network_says() -> None:
    image = photo(80, 64)
    result = started().convert(png(image))
    assert np.array_equal(pixels(result.image), 255 - image)
    assert (result.width, result.height, result.format, result.mimetype) == (80, 64, "png", "image/png")


def test_a_large_photo_is_planned_to_the_default_size_and_a_small_one_is_never_scaled_up() -> None:
    engine = started(default_size=100)
    assert pixels(engine.convert(png(photo(300, 150))).image).shape == (50, 100, 3)
    assert pixels(engine.convert(png(photo(30, 15))).image).shape == (15, 30, 3)


def test_the_original_size_is_kept_when_asked_for() -> None:
    assert pixels(started(default_size=100).convert(png(photo(300, 150)), size="original").image).shape == (150, 300, 3)


def test_a_very_large_photo_is_decoded_reduced_only_where_the_answer_stays_as_large_as_asked_for() -> None:
    flat = Image.new("RGB", (6500, 5000), "gray")
    buffer = BytesIO()
    flat.save(buffer, "JPEG")
    engine = started(Workshop(sessions={"hayao": Dark()}))
    for size in (2500, 2600):
        assert engine.convert(buffer.getvalue(), size=size, format="jpeg").width == size


@pytest.mark.parametrize(("strength", "share"), [(0, 0.0), (25, 0.25), (100, 1.0)])
def test_strength_blends_the_drawing_with_the_photo(strength: int, share: float) -> None:
    image = photo(64, 64)
    expected = image + share * (255.0 - 2.0 * image)
    answer = pixels(started().convert(png(image), strength=strength).image)
    assert np.abs(answer - expected).max() <= 0.51


def test_alpha_is_put_back_where_the_format_has_it_and_white_shows_through_where_not() -> None:
    image = np.dstack([photo(64, 64), np.full((64, 64), 255, np.uint8)])
    image[:32, :, 3] = 0
    engine = started()
    assert np.array_equal(pixels(engine.convert(png(image)).image)[..., 3], image[..., 3])
    flat = pixels(engine.convert(png(image), format="jpeg").image)
    assert flat.shape == (64, 64, 3)
    assert flat[:28].max() <= 3  # white, drawn by the negative


def test_each_stage_is_timed() -> None:
    timings = started().convert(png(photo(64, 64))).timings
    assert tuple(timings) == STAGES
    assert all(timings[stage] > 0 for stage in ("decode", "infer", "encode"))


def test_faces_are_drawn_by_the_face_style_and_the_rest_by_its_surroundings() -> None:
    image = np.full((200, 200, 3), 100, np.uint8)
    workshop = Workshop(sessions={"cute": Dark()})
    result = started(workshop, FixedDetector([face_at(80, 80, 40)])).convert(png(image), style="cute")
    assert result.faces == 1
    assert result.notices == ()
    assert pixels(result.image)[5, 5].tolist() == [155, 155, 155]
    assert sorted(workshop.built) == ["cute", "hayao"]


def test_face_off_does_not_even_look_for_faces() -> None:
    detector = FixedDetector([face_at(80, 80, 40)])
    result = started(detector=detector).convert(png(photo(200, 200)), face="off")
    assert (result.faces, result.notices, detector.asked) == (0, (), 0)


def test_a_picture_without_a_face_is_converted_whole_and_says_so() -> None:
    result = started(detector=FixedDetector()).convert(png(photo(64, 64)))
    assert (result.faces, result.notices) == (0, ("no-face",))


def test_without_a_detector_the_picture_is_converted_whole_and_says_so() -> None:
    result = started().convert(png(photo(64, 64)))
    assert (result.faces, result.notices) == (0, ("faces-off",))


def test_a_portrait_is_the_square_around_the_largest_face() -> None:
    detector = FixedDetector([face_at(60, 80, 50), face_at(300, 80, 40)])
    result = started(detector=detector).convert(png(photo(400, 300)), face="only")
    assert result.width == result.height
    assert 50 < result.width < 300


def test_a_portrait_needs_a_face() -> None:
    with pytest.raises(NoFaceFound):
        started(detector=FixedDetector()).convert(png(photo(64, 64)), face="only")


def test_a_portrait_needs_a_detector() -> None:
    with pytest.raises(FacesUnavailable):
        started().convert(png(photo(64, 64)), face="only")


def test_faces_are_drawn_from_the_full_resolution() -> None:
    seen: list[tuple[int, ...]] = []

    class Watching(Dark):
        def run(self, tensor: np.ndarray) -> np.ndarray:
            seen.append(tensor.shape)
            return super().run(tensor)

    workshop = Workshop(sessions={"cute": Watching()})
    engine = started(workshop, FixedDetector([face_at(400, 300, 200)]), default_size=256)
    engine.convert(png(photo(1000, 800)), style="cute")
    assert seen == [(1, 3, 512, 512)]


def test_the_same_upload_gives_the_same_bytes() -> None:
    engine = started()
    assert engine.convert(case("face_one.png")).image == engine.convert(case("face_one.png")).image


@pytest.mark.parametrize(("name", "error"), [("svg.svg", UnsupportedImage), ("trunc_60pct.jpg", BrokenImage)])
def test_what_cannot_be_decoded_is_refused_in_the_decoders_words(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        started().convert(case(name))


def test_a_format_that_cannot_hold_the_answer_is_refused_before_any_work_on_it() -> None:
    class Unused:
        def run(self, tensor: np.ndarray) -> np.ndarray:
            raise AssertionError("the network was run")

    engine = started(Workshop(sessions={"hayao": Unused()}))
    with pytest.raises(InvalidOption, match="png, jpeg, avif"):
        engine.convert(png(photo(2, 16_384)), size="original", format="webp")


def test_work_ends_at_its_deadline() -> None:
    with pytest.raises(DeadlineExceeded):
        started().convert_with(png(photo(64, 64)), ConvertOptions(), Deadline(1e-9))


class _Held:
    """A detector that is at it until it is let go."""

    def __init__(self, order: list[str]) -> None:
        self.begun, self.let_go, self.order = threading.Event(), threading.Event(), order

    def detect(self, image: RgbImage) -> list[Face]:
        self.begun.set()
        assert self.let_go.wait(30)
        self.order.append("searched")
        return []

    def close(self) -> None:
        """There is nothing to close."""


def test_a_conversion_that_is_given_up_ends_no_sooner_than_its_search_for_faces() -> None:
    """The search holds the photo, which is charged to the conversion."""
    order: list[str] = []
    detector, given_up = _Held(order), threading.Event()

    def gone() -> bool:
        if detector.begun.is_set():
            given_up.set()
        return detector.begun.is_set()

    engine = started(detector=detector)

    def convert() -> None:
        with pytest.raises(ClientGone):
            engine.convert_with(png(photo(64, 64)), ConvertOptions(), Deadline(30, gone=gone))
        order.append("ended")

    thread = threading.Thread(target=convert)
    thread.start()
    assert detector.begun.wait(30)
    assert given_up.wait(30)
    thread.join(0.2)
    detector.let_go.set()
    thread.join(30)
    assert order == ["searched", "ended"]
