"""What becomes known of a request while it is answered, for those who count and log it."""

from __future__ import annotations

from dataclasses import dataclass

from flask import g

from app.conversion import Result
from app.types import StyleId


@dataclass(slots=True)
class Account:
    """style: the one asked for, once it is known. code: of the error it ended with. result: the picture, if any."""

    style: StyleId | None = None
    code: str | None = None
    result: Result | None = None


def account() -> Account:
    """The current request's."""
    if "account" not in g:
        g.account = Account()
    kept: Account = g.account
    return kept
