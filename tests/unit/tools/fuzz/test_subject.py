"""The process that decodes for the fuzzer: what it sees of a file, and that it is replaced when it is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from app.conversion import WORKING_PIXELS
from app.imaging.decode import look
from tests.casebook import case
from tests.unit.imaging.makers import RGB, png_file, scene
from tests.unit.tools.fuzz import bad_decoders
from tools.fuzz.decoder import LIMITS, Outcome, examine
from tools.fuzz.subject import Subject

FORESEE = partial(look, limits=LIMITS, working_pixels=WORKING_PIXELS)

BAD = "tests.unit.tools.fuzz.bad_decoders"

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="measured by Linux's /proc")


@contextmanager
def subject(decoder: str, hung_seconds: float = 60.0) -> Iterator[Subject]:
    with Subject(f"{BAD}:{decoder}", hung_seconds=hung_seconds) as process:
        yield process


def outcomes(decoder: str, *files: bytes) -> list[Outcome]:
    with subject(decoder) as process:
        return [process.examine(data) for data in files]


def test_pictures_and_refusals_are_no_faults() -> None:
    (picture,) = outcomes("good", b"x")
    (refusal,) = outcomes("refusing", b"x")
    assert (picture.answer, picture.fault) == ("png", "")
    assert (refusal.answer, refusal.fault) == ("broken-image", "")


def test_the_services_own_decoder_is_asked_if_no_other_is_named() -> None:
    with Subject() as process:
        assert process.examine(case("odd_33x47.png").data).answer == "png"
        assert process.examine(case("trunc_60pct.jpg").data).answer == "broken-image"


@pytest.mark.parametrize(
    ("decoder", "fault"),
    [
        ("raising", "KeyError in raising (bad_decoders.py)"),
        ("dying", "died of signal 11 in dying (bad_decoders.py)"),
        ("misshapen", "a picture of (3, 4, 3) said to be 40 x 30"),
        ("unwritten", "a picture of unwritten memory"),
    ],
)
def test_faults_are_told_and_the_next_file_is_taken(decoder: str, fault: str) -> None:
    first, second = outcomes(decoder, b"bad", b"bad again")
    assert (first.fault, second.fault) == (fault, fault)


def test_a_picture_must_be_what_a_look_at_its_header_foresees() -> None:
    small, large = (png_file(scene(*size), 8, RGB) for size in ((4, 3), (8, 6)))
    assert examine(small, bad_decoders.good, FORESEE).fault == ""
    assert examine(large, bad_decoders.good, FORESEE).fault == "a picture of (3, 4, 3) that looked like (8, 6)"
    assert examine(b"text", bad_decoders.good, FORESEE).fault == "a picture that a look refuses: unsupported-image"
    assert examine(small, lambda _: bad_decoders.hungry(b"bad"), FORESEE).fault.startswith("more memory than")


def test_a_vast_picture_is_decoded_reduced_or_as_a_whole() -> None:
    file = BytesIO()
    Image.new("RGB", (6500, 5000), "gray").save(file, "JPEG")
    mib = []
    for whole in (False, True):
        with Subject(whole=whole) as process:
            outcome = process.examine(file.getvalue())
        assert (outcome.answer, outcome.fault) == ("jpeg", "")
        mib.append(outcome.mib)
    assert mib[0] < 60 < 90 < mib[1]


def test_memory_is_told_for_each_file_alone() -> None:
    before, large, after = outcomes("hungry", b"good", b"bad", b"good")
    assert 395 < large.mib < 450
    assert max(before.mib, after.mib) < 20


def test_seconds_are_those_of_the_processor() -> None:
    short, long = outcomes("lazy", b"", b"x" * 300)
    assert short.seconds < long.seconds
    assert long.seconds >= 0.3


def test_a_decoder_that_hangs_is_given_up_and_replaced() -> None:
    with subject("hanging", hung_seconds=10.0) as process:
        assert process.examine(b"good").fault == ""
        assert process.examine(b"bad").fault == "no answer in 10 s"
        assert process.examine(b"good").fault == ""
