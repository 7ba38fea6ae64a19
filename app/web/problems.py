"""Errors as answers: RFC 9457 problem documents for programs, a page for browsers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from flask import Response, g, render_template, request

from app.errors import AnimeBoothError, MethodNotAllowed, RequestError, ServiceError, Unauthorized
from app.i18n import Language
from app.page_text import page_language
from app.web.account import account
from app.web.negotiation import PROBLEM_JSON, prefers_page

DOCS_ANCHOR: Final = "error-"
"""``/docs#error-<code>`` is the ``type`` of a problem, and where it is explained."""


BEARER_CHALLENGE: Final = 'Bearer realm="AnimeBooth"'
"""What WWW-Authenticate says where a key is asked for (RFC 6750, section 3)."""


def public_errors() -> Iterator[type[AnimeBoothError]]:
    """Every class of error that a client may meet, in the order of app.errors."""
    for family in (RequestError, ServiceError):
        yield from family.__subclasses__()


def problem_type(code: str) -> str:
    """The ``type`` member: a reference to where the problem is explained."""
    return f"/docs#{DOCS_ANCHOR}{code}"


def problem_title(code: str) -> str:
    """``file-too-large`` -> ``File too large``. English, the same for every occurrence."""
    return code.replace("-", " ").capitalize()


def problem_document(error: AnimeBoothError, language: Language, request_id: str) -> dict[str, Any]:
    """The members of RFC 9457, a stable ``code``, ``request_id``, and the fields of the sentence."""
    return {
        "type": problem_type(error.code),
        "title": problem_title(error.code),
        "status": error.status,
        "detail": error.sentence(language),
        "code": error.code,
        "request_id": request_id,
        **error.fields,
    }


def error_response(error: AnimeBoothError) -> Response:
    """``error`` in the form and the language that the current request prefers."""
    account().code = error.code
    language = page_language(request)
    if prefers_page(request.accept_mimetypes):
        page = render_template(
            "error.html", lang=language, error=error, sentence=error.sentence(language), status=error.status
        )
        response = Response(page, error.status, content_type="text/html; charset=utf-8")
    else:
        document = problem_document(error, language, g.request_id)
        response = Response(json.dumps(document, ensure_ascii=False) + "\n", error.status, content_type=PROBLEM_JSON)
    _set_headers(response, error, language)
    return response


def _set_headers(response: Response, error: AnimeBoothError, language: Language) -> None:
    response.headers["Content-Language"] = language
    response.headers["Cache-Control"] = "no-store"
    response.vary.update(["Accept", "Accept-Language", "Cookie"])
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthorized):
        response.headers["WWW-Authenticate"] = BEARER_CHALLENGE
    if isinstance(error, MethodNotAllowed):
        response.headers["Allow"] = str(error.fields["allowed"])
