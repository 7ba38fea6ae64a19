"""An answer as bytes, for other machines."""

import json
from dataclasses import replace

import pytest

from app.caching.packing import packed, unpacked
from app.conversion import Result

RESULT = Result(
    image=b"\x89PNG\x00\n\xff",
    mimetype="image/png",
    format="png",
    style="cute",
    faces=2,
    width=768,
    height=576,
    timings={},
    notices=("no-face", "faces-off"),
)


def test_an_answer_comes_back_as_it_was() -> None:
    assert unpacked(packed(RESULT)) == RESULT


def test_how_long_it_took_and_how_it_was_come_by_stay_behind() -> None:
    assert unpacked(packed(replace(RESULT, timings={"infer": 1.0}, cache="miss"))) == RESULT


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no line",
        b"[]\nimage",
        b"{}\nimage",
        b"{not json}\nimage",
        b"\xff\xfe\nimage",
        json.dumps({"format": "svg", "style": "a", "faces": 0, "width": 1, "height": 1, "notices": []}).encode()
        + b"\nx",
    ],
)
def test_what_is_no_answer_is_none(data: bytes) -> None:
    assert unpacked(data) is None
