"""The whole case book through POST /convert with the built-in networks: each row gets the answer it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.test import TestResponse

from app import create_app
from app.config import Settings
from app.engine import Engine
from tests.casebook import CASES, Case
from tests.casebook import case as case_named

Convert: TypeAlias = Callable[[bytes], TestResponse]

TWIN_TOLERANCE = 8.0
"""Mean of 255 by which a converted case may differ from its converted twin: the networks draw JPEG's noise too."""

WITH_TWIN = [case for case in CASES if case.twin and case.accepted]
CONVERTED = [case for case in CASES if 200 in case.statuses]
FACES = re.compile(r"faces_reported=(\d)( or (\d))?")


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    settings = Settings(rate_limit="")
    engine = Engine.from_settings(settings)
    engine.start(warm=False)
    yield create_app(settings, engine).test_client()
    engine.close()


@pytest.fixture(scope="module")
def convert(client: FlaskClient) -> Convert:
    """Posts a picture, once for all tests of this module."""

    @cache
    def answer(data: bytes) -> TestResponse:
        return client.post("/convert", data=data, headers={"Content-Type": "application/octet-stream"})

    return answer


def opened(answer: TestResponse) -> Image.Image:
    picture = Image.open(BytesIO(answer.data))
    picture.load()
    return picture


def small(answer: TestResponse, size: tuple[int, int]) -> npt.NDArray[np.float32]:
    """The answer's colours on white at ``size``: (H, W, 3) float32."""
    picture = opened(answer).convert("RGBA")
    white = Image.new("RGBA", picture.size, "white")
    white.alpha_composite(picture)
    return np.asarray(white.convert("RGB").resize(size, Image.Resampling.BOX), np.float32)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_case_gets_the_status_of_its_row(case: Case, convert: Convert) -> None:
    answer = convert(case.data)
    assert answer.status_code in case.statuses, answer.data[:300]
    if answer.status_code == 200:
        assert answer.mimetype.startswith("image/")
    else:
        assert answer.mimetype == "application/problem+json"
        assert len(answer.json["detail"]) > 20


@pytest.mark.parametrize("case", WITH_TWIN, ids=str)
def test_a_converted_case_looks_like_its_converted_twin(case: Case, convert: Convert) -> None:
    assert case.twin is not None
    ours, twins = convert(case.data), convert(case.twin.read_bytes())
    size = opened(twins).size
    assert abs(opened(ours).width / opened(ours).height - size[0] / size[1]) < 0.01 * size[0] / size[1]
    difference = np.abs(small(ours, size) - small(twins, size))
    worst = np.percentile(difference, [50, 90, 99, 100])
    assert difference.mean() < TWIN_TOLERANCE, f"mean {difference.mean():.2f}; 50, 90, 99, 100 %: {worst}"


@pytest.mark.parametrize("case", [case for case in CONVERTED if case.size and not case.twin], ids=str)
def test_the_answer_has_the_size_of_its_row(case: Case, convert: Convert) -> None:
    answer = convert(case.data)
    if answer.status_code == 200:
        assert opened(answer).size == case.size


@pytest.mark.parametrize("case", [case for case in CASES if FACES.search(case.expected)], ids=str)
def test_as_many_faces_are_treated_as_the_row_says(case: Case, convert: Convert) -> None:
    found = FACES.search(case.expected)
    assert found is not None
    allowed = {int(number) for number in (found[1], found[3]) if number}
    assert int(convert(case.data).headers["X-Faces"]) in allowed


@pytest.mark.parametrize("case", CONVERTED, ids=str)
def test_no_answer_carries_metadata(case: Case, convert: Convert) -> None:
    answer = convert(case.data)
    if answer.status_code != 200:
        pytest.skip("refused, as its row allows")
    picture = opened(answer)
    assert not picture.getexif()
    assert not {"exif", "xmp", "comment", "icc_profile", "XML:com.adobe.xmp"} & picture.info.keys()
    assert getattr(picture, "n_frames", 1) == 1
    assert picture.mode in ("RGB", "RGBA")


def test_nothing_hidden_under_transparency_shows(convert: Convert) -> None:
    picture = np.asarray(opened(convert(case_named("rgba_hole.png").data)).convert("RGBA"), int)
    magenta = (picture[..., 0] > 180) & (picture[..., 1] < 90) & (picture[..., 2] > 180)
    assert not magenta.any()
    assert (picture[..., 3] == 0).any()


def test_a_black_picture_stays_black(convert: Convert) -> None:
    picture = np.asarray(opened(convert(case_named("black.png").data)))
    assert picture.max() < 24
    assert np.ptp(picture) < 18


def test_noise_is_no_face(convert: Convert) -> None:
    assert convert(case_named("noise.png").data).headers["X-Faces"] == "0"


def test_a_panorama_keeps_its_ratio(convert: Convert) -> None:
    width, height = opened(convert(case_named("panorama_8000x400.jpg").data)).size
    assert abs(width / height - 20) < 0.3


def test_skin_stays_as_dark_as_it_was(convert: Convert) -> None:
    """The proxy has the skin of face_one multiplied by .62, .55, .50: its drawing must be darker there too."""

    def lightness(name: str) -> float:
        picture = opened(convert(case_named(name).data)).convert("L")
        return float(np.asarray(picture.crop((185, 80, 260, 150))).mean())

    assert lightness("skin_proxy_mid.png") < 0.8 * lightness("face_one.png")
