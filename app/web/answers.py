"""A conversion's result as an answer: the picture itself, or a page that shows it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from flask import Response, render_template

from app.conversion import Result
from app.i18n import Language
from app.imaging.encode import FILE_SUFFIXES
from app.telemetry.observer import CacheOutcome
from app.web.naming import content_disposition, download_name

NOTICE_HEADER: Final = "X-Notice"
CACHE_HEADER: Final = "X-Cache"
CACHE_WORDS: Final[Mapping[CacheOutcome, str]] = MappingProxyType(
    {"hit": "hit", "joined": "hit", "shared": "shared", "miss": "miss"}
)
"""To a client it is all one whether the answer was there or about to be: nothing was done for it."""


def picture_response(result: Result, upload_name: str, seconds: float) -> Response:
    """The encoded picture. ``seconds``: the whole request so far, told as ``total`` in Server-Timing."""
    response = Response(result.image, content_type=result.mimetype)
    response.headers["Content-Disposition"] = content_disposition(_file_name(result, upload_name))
    response.headers["Server-Timing"] = server_timing({**result.timings, "total": seconds})
    response.headers["X-Style"] = result.style
    response.headers["X-Faces"] = str(result.faces)
    response.headers["X-Size"] = f"{result.width}x{result.height}"
    if result.notices:
        response.headers[NOTICE_HEADER] = ", ".join(result.notices)
    return _with_origin(response, result)


def page_response(result: Result, upload_name: str, title: Mapping[Language, str], language: Language) -> Response:
    """A page with the picture in it, for a form sent by a browser without JavaScript. ``title``: the style's."""
    page = render_template(
        "result.html",
        lang=language,
        result=result,
        title=title,
        data_uri=f"data:{result.mimetype};base64,{base64.b64encode(result.image).decode('ascii')}",
        filename=_file_name(result, upload_name),
        notices=result.notices,
    )
    return _with_origin(Response(page, content_type="text/html; charset=utf-8"), result)


def server_timing(seconds: Mapping[str, float]) -> str:
    """``{"decode": 0.0123}`` -> ``decode;dur=12.3``: milliseconds, as the Server-Timing specification has it."""
    return ", ".join(f"{name};dur={spent * 1000:.1f}" for name, spent in seconds.items())


def _with_origin(response: Response, result: Result) -> Response:
    if result.cache is not None:
        response.headers[CACHE_HEADER] = CACHE_WORDS[result.cache]
    return response


def _file_name(result: Result, upload_name: str) -> str:
    return download_name(upload_name, result.style, FILE_SUFFIXES[result.format])
