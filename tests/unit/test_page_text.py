"""The page's sentences: complete in every language, all used, and picked as the visitor wishes."""

from __future__ import annotations

import re
from string import Formatter

import pytest
from flask import Flask, Request
from werkzeug.test import EnvironBuilder

from app.config import PROJECT_ROOT
from app.i18n import LANGUAGES, Language
from app.page_text import LANGUAGE_NAMES, PAGE_TEXTS, SAMPLES, install, page_language, page_text

TEMPLATES = PROJECT_ROOT / "templates"
SCRIPTS = PROJECT_ROOT / "static" / "js"

# Keys whose last part is put together: by the stage's state, a notice, a problem's code, a sample, a face mode; on the
# owner's page by how things are.
MADE_UP = re.compile(
    r"(sign|notice|error\.code|sample|more\.face|status\.(mood|line|stage|state|outcome|span))\.[a-z-]+"
)


def _keys_asked_for() -> set[str]:
    sources = [path.read_text() for path in [*TEMPLATES.glob("*.html"), *SCRIPTS.glob("*.js")]]
    keys = set(PAGE_TEXTS["en"])
    quoted = {word for source in sources for word in re.findall(r"""["'`]([a-z][a-z.-]+)["'`]""", source)}
    return quoted & keys


def _fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_sentences_with_the_same_fields(language: Language) -> None:
    english = PAGE_TEXTS["en"]
    assert PAGE_TEXTS[language].keys() == english.keys()
    differing = [key for key in english if _fields(PAGE_TEXTS[language][key]) != _fields(english[key])]
    assert differing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_is_empty_and_every_language_has_a_name(language: Language) -> None:
    assert all(sentence.strip() for sentence in PAGE_TEXTS[language].values())
    assert LANGUAGE_NAMES[language]


def test_every_sentence_is_used_somewhere() -> None:
    unused = {key for key in PAGE_TEXTS["en"] if not MADE_UP.fullmatch(key)} - _keys_asked_for()
    assert unused == set()


def test_what_the_templates_and_scripts_ask_for_is_there() -> None:
    asked = set()
    for path in TEMPLATES.glob("*.html"):
        asked |= set(re.findall(r"""\bt\(["']([a-z.-]+)["'][,)]""", path.read_text()))
    for path in SCRIPTS.glob("*.js"):
        asked |= set(re.findall(r"""\btext\("([a-z.-]+)"[,)]""", path.read_text()))
    assert len(asked) > 40
    assert asked - PAGE_TEXTS["en"].keys() == set()


def test_every_sample_has_a_title_and_a_file() -> None:
    for sample in SAMPLES:
        assert page_text("en", f"sample.{sample.id}")
        assert (PROJECT_ROOT / "static" / "samples" / f"{sample.id}.jpg").is_file()


def test_fields_are_filled_in_and_an_unknown_sentence_is_an_error() -> None:
    assert page_text("en", "result.done", style="Cute", width=3, height=4) == "Done. Cute, 3 × 4 pixels."
    with pytest.raises(KeyError):
        page_text("en", "no.such.sentence")


@pytest.mark.parametrize(
    ("query", "cookie", "accepted", "language"),
    [
        ("?lang=ja", "zh", "en", "ja"),
        ("?lang=tlh", "zh", "en", "zh"),
        ("", "zh", "ja", "zh"),
        ("", "tlh", "ja", "ja"),
        ("", "", "fr, zh-Hant-TW;q=0.8, en;q=0.5", "zh"),
        ("", "", "fr", "en"),
    ],
)
def test_the_language_is_the_one_chosen_by_hand_before_the_browsers(
    query: str, cookie: str, accepted: str, language: Language
) -> None:
    headers = {"Accept-Language": accepted, "Cookie": f"lang={cookie}"}
    request = Request(EnvironBuilder(path="/" + query, headers=headers).get_environ())
    assert page_language(request) == language


def test_a_language_asked_for_is_remembered_and_an_unknown_one_is_not() -> None:
    app = Flask(__name__)
    install(app)
    app.add_url_rule("/", view_func=lambda: "")
    with app.test_client() as client:
        remembered = client.get("/?lang=ja").headers["Set-Cookie"]
        assert remembered.startswith("lang=ja;")
        assert "SameSite=Lax" in remembered
        assert "Set-Cookie" not in client.get("/?lang=tlh").headers
        assert "Set-Cookie" not in client.get("/").headers
