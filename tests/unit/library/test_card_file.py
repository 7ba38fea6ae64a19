"""A card that was written is read as it was meant, whatever people call their styles."""

from __future__ import annotations

import tomllib

import pytest

from app.imaging.sizing import SizeRequirements
from app.inference.card import Licence, WeightFile, parse_card
from app.library.card_file import About, card_text, in_all_languages
from app.library.findings import Finding
from app.library.inspection import Needs

NEEDS = Needs(
    layout="NHWC",
    input_name="in:0",
    output_name="out:0",
    input_range=(-1.0, 1.0),
    output_range=(0.0, 255.0),
    channel_order="BGR",
    sizes=SizeRequirements(8, 512, (512, 256)),
    local=False,
    halo=48,
    findings=(Finding("layout", "NHWC", "so\nit is"),),
)

WEIGHTS = WeightFile("own.onnx", "0" * 64, 1000)


def about(title: str = "Own", *, source: str | None = None, surroundings: str | None = None) -> About:
    return About(
        id="own",
        title=in_all_languages(title),
        description=in_all_languages("A style."),
        kind="face",
        surroundings=surroundings,
        family="custom",
        source=source,
        licence=Licence("CC0-1.0", "Free."),
        commercial=True,
        face_size=256,
    )


def test_what_was_found_is_read_again() -> None:
    text = card_text(about(surroundings="hayao"), NEEDS, WEIGHTS, variant="fp32", remarks=[])
    card = parse_card("own", tomllib.loads(text))
    assert (card.layout, card.input_name, card.output_name) == ("NHWC", "in:0", "out:0")
    assert (card.input_range, card.output_range, card.channel_order) == ((-1.0, 1.0), (0.0, 255.0), "BGR")
    assert card.sizes == SizeRequirements(8, 512, (512, 256))
    assert (card.local, card.halo, card.face_size, card.commercial) == (False, 48, 256, True)
    assert (card.kind, card.surroundings, card.source) == ("face", "hayao", None)
    assert card.variants["fp32"] == WEIGHTS


@pytest.mark.parametrize(
    "title",
    ['"quoted"', "back\\slash", "日本語 🎨", "new\nline", "tab\t and \x7f and \x1b[31m", "# no comment", "[table]"],
)
def test_any_title_survives_in_every_language(title: str) -> None:
    text = card_text(about(title), NEEDS, WEIGHTS, variant="fp32", remarks=[])
    card = parse_card("own", tomllib.loads(text))
    assert set(card.title.values()) == {title}
    assert set(card.title) == {"en", "zh", "ja"}


@pytest.mark.parametrize("remark", ["id = 3", "two\nlines", 'x\rid = "other"', "\x00\x1b"])
def test_remarks_stay_remarks(remark: str) -> None:
    text = card_text(about(), NEEDS, WEIGHTS, variant="fp32", remarks=[remark])
    assert parse_card("own", tomllib.loads(text)).id == "own"
    assert text.startswith("#")
