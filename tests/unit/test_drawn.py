"""From one drawing come all the answers that whole conversions would have given."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import replace

import numpy as np
import pytest

from app.conversion import FINISHING_OPTIONS, Drawn, Kit, convert_picture, finish_picture
from app.errors import DeadlineExceeded, InvalidOption
from app.imaging.decode import DecodeLimits
from app.inference.stylizer import Stylizer
from app.options import ConvertOptions
from app.types import never_stop
from tests.unit.stubs import Dark, FixedDetector, Negative, card, face_at, photo, png

OPTIONS = ConvertOptions(style="cute", size=100)
FINISHES = [
    {},
    {"strength": 0},
    {"strength": 37},
    {"format": "jpeg"},
    {"format": "webp", "quality": 40},
    {"format": "avif", "strength": 70},
]


class AtOnce(Executor):
    """Does what it is given before it says so."""

    def submit(self, call, /, *given, **named):  # type: ignore[no-untyped-def, override]
        future = Future()  # type: ignore[var-annotated]
        future.set_result(call(*given, **named))
        return future


def kit() -> Kit:
    networks = {"cute": Stylizer(card("cute"), Dark()), "hayao": Stylizer(card("hayao"), Negative())}
    return Kit(DecodeLimits(), networks.__getitem__, lambda: FixedDetector([face_at(60, 60, 60)]), AtOnce())


def transparent() -> bytes:
    alpha = np.linspace(0, 255, 200).astype(np.uint8)[:, None].repeat(200, 1)
    return png(np.dstack([photo(200, 200), alpha]))


def drawn(data: bytes, options: ConvertOptions = OPTIONS) -> Drawn:
    kept: list[Drawn] = []
    convert_picture(data, options, kit(), never_stop, kept.append)
    assert len(kept) == 1
    return kept[0]


@pytest.mark.parametrize("finish", FINISHES, ids=str)
@pytest.mark.parametrize("face", ["auto", "off", "only"])
def test_an_answer_from_the_drawing_is_the_one_a_whole_conversion_gives(face: str, finish: dict[str, object]) -> None:
    data = transparent()
    first = replace(OPTIONS, face=face)
    asked = replace(first, **finish)
    whole = convert_picture(data, asked, kit(), never_stop)
    again = finish_picture(drawn(data, first), asked, never_stop)
    assert again.image == whole.image
    assert replace(again, timings={}) == replace(whole, timings={})


def test_only_the_stages_gone_through_are_timed() -> None:
    timings = finish_picture(drawn(transparent()), OPTIONS, never_stop).timings
    assert set(timings) == {"blend", "encode"}


def test_the_finishing_options_are_those_that_leave_the_drawing_as_it_is() -> None:
    changed = {"strength": 10, "format": "jpeg", "quality": 10, "face": "off", "size": 64, "style": "hayao"}
    plain = drawn(transparent())
    same = {
        name
        for name, value in changed.items()
        if _alike(drawn(transparent(), replace(OPTIONS, **{name: value})), plain)
    }
    assert same == set(FINISHING_OPTIONS)


def _alike(one: Drawn, other: Drawn) -> bool:
    return np.array_equal(one.photo, other.photo) and np.array_equal(one.drawing, other.drawing)


def test_a_format_that_cannot_hold_the_drawing_is_refused() -> None:
    wide = Drawn(
        np.zeros((1, 16_384, 3), np.uint8), np.zeros((1, 16_384, 3), np.uint8), None, "png", "hayao", 0, ("no-face",)
    )
    with pytest.raises(InvalidOption, match="png, jpeg, avif"):
        finish_picture(wide, replace(OPTIONS, format="webp"), never_stop)


def test_a_deadline_that_has_passed_ends_it() -> None:
    def stop() -> None:
        raise DeadlineExceeded(seconds=1)

    with pytest.raises(DeadlineExceeded):
        finish_picture(drawn(transparent()), OPTIONS, stop)
