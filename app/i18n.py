"""The three languages people meet here, and how one is picked for a request."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Language: TypeAlias = Literal["en", "zh", "ja"]

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
DEFAULT_LANGUAGE: Final[Language] = "en"


def as_language(tag: str) -> Language | None:
    """The language of a BCP 47 tag by its first part (``zh-Hant-TW`` is ``zh``), or None if we do not speak it."""
    primary = tag.strip().lower().replace("_", "-").partition("-")[0]
    return next((language for language in LANGUAGES if language == primary), None)


def pick_language(preferred: list[str]) -> Language:
    """The first tag of ``preferred`` (best first) that we speak, else English."""
    spoken = (as_language(tag) for tag in preferred)
    return next((language for language in spoken if language), DEFAULT_LANGUAGE)
