"""Each error carries a status, a stable code and a sentence in every language we speak."""

import inspect
import string

import pytest

from app import errors
from app.errors import AnimeBoothError, FileTooLarge, InvalidOption, RateLimited
from app.i18n import LANGUAGES


def told_to_clients() -> list[type[AnimeBoothError]]:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, AnimeBoothError)]
    return [kind for kind in kinds if kind.sentences and not issubclass(kind, errors.ModelError)]


@pytest.mark.parametrize("kind", told_to_clients())
def test_every_sentence_exists_in_every_language_with_the_same_fields(kind: type[AnimeBoothError]) -> None:
    fields = [{name for _, name, _, _ in string.Formatter().parse(kind.sentences[lang]) if name} for lang in LANGUAGES]
    assert fields[0] == fields[1] == fields[2]


def test_no_two_errors_share_a_code() -> None:
    codes = [kind.code for kind in told_to_clients()]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", told_to_clients())
def test_the_tree_in_the_docstring_is_the_tree_in_the_code(kind: type[AnimeBoothError]) -> None:
    assert errors.__doc__ is not None
    line = next(line for line in errors.__doc__.splitlines() if f"- {kind.__name__} " in line)
    assert line.split()[-2:] == [str(kind.status), kind.code]


def test_a_sentence_is_filled_in() -> None:
    assert FileTooLarge(limit_mib=16).sentence("en") == "The file is larger than 16 MiB. Send a smaller one."
    assert "16 MiB" in FileTooLarge(limit_mib=16).sentence("ja")


def test_what_was_sent_is_echoed_briefly_and_never_formatted() -> None:
    error = InvalidOption(option="size", value="{secret}" + "x" * 9999, allowed="1")
    assert "{secret}xxx" in str(error)
    assert len(str(error)) < 200


def test_a_rate_limit_says_when_to_come_back() -> None:
    assert RateLimited(seconds=7).retry_after == 7
