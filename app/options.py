"""What one conversion may be asked for, and how it is read from text (form fields, query, command line)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar, get_args

from app.errors import InvalidOption, UnknownOption
from app.types import FaceMode, ImageFormat, StyleId

_Choice = TypeVar("_Choice", bound=str)

SizeOption: TypeAlias = int | Literal["original"]

FACE_MODES: Final[tuple[FaceMode, ...]] = get_args(FaceMode)
FORMATS: Final[tuple[ImageFormat, ...]] = get_args(ImageFormat)
MIN_SIZE: Final = 64
MAX_SIZE: Final = 4096
MAX_STRENGTH: Final = 100
MIN_QUALITY: Final = 1
MAX_QUALITY: Final = 100

OPTION_NAMES: Final = ("style", "face", "size", "strength", "format", "quality")


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """One conversion's wishes; None leaves the choice to the engine.

    style: id of a style (None: the default style). face: ``auto`` treats each face on its own, ``off`` none,
    ``only`` answers with the portrait of the largest face (None: as the style has it, mostly ``auto``). size: longest
    side in pixels, 64 to 4096, or ``original``; never scaled up (None: the setting). strength: per cent of the style
    blended with the photo. format: of the answer (None: the upload's kind, or the nearest one we write). quality: 1 to
    100 for JPEG, WebP and AVIF (None: the format's default).
    """

    style: StyleId | None = None
    face: FaceMode | None = None
    size: SizeOption | None = None
    strength: int = MAX_STRENGTH
    format: ImageFormat | None = None
    quality: int | None = None

    def __post_init__(self) -> None:
        """Raise InvalidOption for a value outside its range (the style is checked by the engine, which knows them)."""
        if self.face is not None and self.face not in FACE_MODES:
            raise _invalid("face", self.face)
        if self.size not in (None, "original") and not _within(self.size, MIN_SIZE, MAX_SIZE):
            raise _invalid("size", self.size)
        if not _within(self.strength, 0, MAX_STRENGTH):
            raise _invalid("strength", self.strength)
        if self.format is not None and self.format not in FORMATS:
            raise _invalid("format", self.format)
        if self.quality is not None and not _within(self.quality, MIN_QUALITY, MAX_QUALITY):
            raise _invalid("quality", self.quality)


def parse_options(given: Mapping[str, str], styles: Collection[StyleId]) -> ConvertOptions:
    """Options from text. An empty value counts as not given, as HTML forms send it.

    Raises UnknownOption for a name not in OPTION_NAMES, InvalidOption for a style not in ``styles`` and any value out
    of range.
    """
    for name in given:
        if name not in OPTION_NAMES:
            raise UnknownOption(option=name, allowed=", ".join(OPTION_NAMES))
    wishes = {name: text for name, text in given.items() if text}
    style = wishes.get("style")
    if style is not None and style not in styles:
        raise InvalidOption(option="style", value=style, allowed=", ".join(styles))
    return ConvertOptions(
        style=style,
        face=_one_of("face", wishes["face"], FACE_MODES) if "face" in wishes else None,
        size=_size(wishes.get("size")),
        strength=_whole_number("strength", wishes.get("strength", str(MAX_STRENGTH))),
        format=_one_of("format", wishes["format"], FORMATS) if "format" in wishes else None,
        quality=_whole_number("quality", wishes["quality"]) if "quality" in wishes else None,
    )


_ALLOWED: Final[Mapping[str, str]] = {
    "face": ", ".join(FACE_MODES),
    "size": f"{MIN_SIZE} to {MAX_SIZE}, original",
    "strength": f"0 to {MAX_STRENGTH}",
    "format": ", ".join(FORMATS),
    "quality": f"{MIN_QUALITY} to {MAX_QUALITY}",
}


def _invalid(option: str, value: object) -> InvalidOption:
    return InvalidOption(option=option, value=str(value), allowed=_ALLOWED[option])


def _within(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _one_of(option: str, text: str, allowed: tuple[_Choice, ...]) -> _Choice:
    for value in allowed:
        if value == text.lower():
            return value
    raise _invalid(option, text)


def _size(text: str | None) -> SizeOption | None:
    if text is None or text == "original":
        return "original" if text else None
    return _whole_number("size", text)


def _whole_number(option: str, text: str) -> int:
    # int() would also take "1_0", "٣" and " 7". To JSON, 60.0 is an integer, and some clients write it so.
    digits = text.removesuffix(".0")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 6):
        raise _invalid(option, text)
    return int(digits)
