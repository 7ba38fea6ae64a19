"""The page's sentences in every language, and which language a visitor reads.

The sentences live in ``app/locales/<language>.json``, one flat object each, with the same keys and the same
``{fields}`` in every file. Templates ask for them by ``t('key')``; the page's script gets them as one object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from flask import Flask, Request, Response, request, url_for
from jinja2 import pass_context
from jinja2.runtime import Context

from app.i18n import DEFAULT_LANGUAGE, LANGUAGES, Language, as_language, pick_language

LANGUAGE_FIELD: Final = "lang"
"""Name of the query parameter and of the cookie that hold a language chosen by hand."""

LANGUAGE_NAMES: Final[Mapping[Language, str]] = MappingProxyType({"en": "EN", "zh": "中文", "ja": "日本語"})

_ENTRIES: Final = frozenset({"early.js", "top.js", "main.js"})
"""Scripts that templates name themselves; every other one is imported by these."""
_COOKIE_SECONDS: Final = 365 * 24 * 3600
_LOCALES: Final = Path(__file__).resolve().parent / "locales"


@dataclass(frozen=True, slots=True)
class Sample:
    """A photo to try. ``id`` names its file under static/samples and its title (``sample.<id>``)."""

    id: str
    width: int
    height: int


SAMPLES: Final = (Sample("astronaut", 512, 512), Sample("cat", 451, 300), Sample("coffee", 600, 400))
"""Origin and licence of each: static/samples/README.md."""


def _read(language: Language) -> Mapping[str, str]:
    return MappingProxyType(json.loads((_LOCALES / f"{language}.json").read_text(encoding="utf-8")))


PAGE_TEXTS: Final[Mapping[Language, Mapping[str, str]]] = MappingProxyType({name: _read(name) for name in LANGUAGES})


def page_text(language: Language, key: str, **fields: object) -> str:
    """The sentence ``key`` in ``language``, its ``{fields}`` filled in. Raises KeyError for an unknown key."""
    return PAGE_TEXTS[language][key].format(**fields)


def page_language(asked: Request) -> Language:
    """The language to answer ``asked`` in: ``?lang=``, else the cookie, else Accept-Language, else English."""
    by_hand = _by_hand(asked) or as_language(asked.cookies.get(LANGUAGE_FIELD, ""))
    return by_hand or pick_language([tag for tag, _ in asked.accept_languages])


def install(app: Flask) -> None:
    """Give ``app``'s templates their texts, and remember a language chosen by ``?lang=`` in a cookie.

    Templates get ``t(key, **fields)`` (the language is the template's ``lang``), ``page_texts(lang)``,
    ``localised(texts)`` (picks from a card's title or description), ``language_names``, ``samples``,
    ``page_modules`` (what the page's script imports) and ``thumbnail(style_id)`` (a URL, or None where a style
    ships no picture).
    """
    static = Path(app.static_folder or "")
    thumbnails = {path.stem for path in static.glob("thumbs/*.jpg")}

    def thumbnail(style_id: str) -> str | None:
        return url_for("static", filename=f"thumbs/{style_id}.jpg") if style_id in thumbnails else None

    app.jinja_env.globals.update(
        t=_translate,
        localised=_localised,
        page_texts=_visitors_texts,
        language_names=LANGUAGE_NAMES,
        samples=SAMPLES,
        page_modules=sorted({path.name for path in static.glob("js/*.js")} - _ENTRIES),
        thumbnail=thumbnail,
    )
    app.after_request(_remember_language)


def _by_hand(asked: Request) -> Language | None:
    return as_language(asked.args.get(LANGUAGE_FIELD, ""))


def _visitors_texts(language: Language) -> dict[str, str]:
    # The owner's page has no script that needs its sentences, and nobody else need load them.
    return {key: text for key, text in PAGE_TEXTS[language].items() if not key.startswith("status.")}


@pass_context
def _translate(context: Context, key: str, **fields: object) -> str:
    return page_text(_language_of(context), key, **fields)


@pass_context
def _localised(context: Context, texts: Mapping[str, str]) -> str:
    return texts.get(_language_of(context)) or texts[DEFAULT_LANGUAGE]


def _language_of(context: Context) -> Language:
    language: Any = context.get("lang", DEFAULT_LANGUAGE)
    return language if language in LANGUAGES else DEFAULT_LANGUAGE


def _remember_language(response: Response) -> Response:
    chosen = _by_hand(request)
    if chosen is not None:
        response.set_cookie(
            LANGUAGE_FIELD, chosen, max_age=_COOKIE_SECONDS, samesite="Lax", secure=request.is_secure, httponly=True
        )
    return response
