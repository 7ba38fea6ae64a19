"""Options come as text, and whatever is wrong is named together with what is allowed."""

import pytest

from app.errors import InvalidOption, UnknownOption
from app.options import ConvertOptions, parse_options

STYLES = ("hayao", "cute")


def test_a_whole_number_may_come_as_json_writes_it() -> None:
    assert parse_options({"size": "512.0", "strength": "60.0"}, STYLES) == ConvertOptions(size=512, strength=60)


def test_nothing_given_leaves_every_choice_open() -> None:
    assert parse_options({}, STYLES) == ConvertOptions()


def test_every_option_is_read() -> None:
    given = {"style": "hayao", "face": "only", "size": "512", "strength": "40", "format": "webp", "quality": "80"}
    assert parse_options(given, STYLES) == ConvertOptions("hayao", "only", 512, 40, "webp", 80)


def test_an_empty_value_counts_as_not_given_as_forms_send_it() -> None:
    assert parse_options({"style": "", "size": "", "quality": ""}, STYLES) == ConvertOptions()


def test_the_original_size_can_be_asked_for() -> None:
    assert parse_options({"size": "original"}, STYLES).size == "original"


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("style", "monet", "hayao, cute"),
        ("face", "maybe", "auto, off, only"),
        ("size", "63", "64 to 4096, original"),
        ("size", "4097", "64 to 4096, original"),
        ("size", "-512", "64 to 4096, original"),
        ("size", "5_1_2", "64 to 4096, original"),
        ("size", "٥١٢", "64 to 4096, original"),
        ("size", "1e3", "64 to 4096, original"),
        ("strength", "101", "0 to 100"),
        ("strength", "half", "0 to 100"),
        ("format", "gif", "png, jpeg, webp, avif"),
        ("quality", "0", "1 to 100"),
        ("quality", "9" * 5000, "1 to 100"),
        ("size", "512.5", "64 to 4096, original"),
        ("size", "512.0.0", "64 to 4096, original"),
        ("strength", ".0", "0 to 100"),
        ("size", " ", "64 to 4096, original"),
        ("size", " 512", "64 to 4096, original"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(option: str, value: str, allowed: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        parse_options({option: value}, STYLES)
    assert caught.value.fields["option"] == option
    assert caught.value.fields["allowed"] == allowed
    assert len(str(caught.value)) < 300


def test_an_unknown_option_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownOption) as caught:
        parse_options({"stile": "hayao"}, STYLES)
    assert str(caught.value).startswith("There is no option “stile”.")
    assert "style, face, size, strength, format, quality" in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [{"face": "x"}, {"size": 5000}, {"size": True}, {"strength": 101}, {"format": "gif"}, {"quality": 0}]
)
def test_options_made_in_python_are_held_to_the_same_rules(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidOption):
        ConvertOptions(**wrong)  # type: ignore[arg-type]
