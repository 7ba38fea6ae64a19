"""What happens around every view: request ids, errors as answers, security headers."""

from __future__ import annotations

import logging

from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge
from werkzeug.routing import RequestRedirect

from app import errors
from app.errors import AnimeBoothError, ModelError
from app.web.headers import REQUEST_ID_HEADER, SECURITY_HEADERS, request_id
from app.web.problems import error_response

_log = logging.getLogger(__name__)


def install(app: Flask) -> None:
    """Register all of it on ``app``."""
    app.before_request(_take_request_id)
    app.register_error_handler(AnimeBoothError, _on_own_error)
    app.register_error_handler(HTTPException, _on_http_error)
    app.register_error_handler(Exception, _on_bug)
    app.after_request(_set_headers)


def _take_request_id() -> None:
    g.request_id = request_id(request.headers.get(REQUEST_ID_HEADER))


def _on_own_error(error: AnimeBoothError) -> Response:
    if isinstance(error, ModelError):
        # Its sentence is for the owner of the service.
        return _on_bug(error)
    return error_response(error)


def _on_http_error(error: HTTPException) -> Response | HTTPException:
    if isinstance(error, RequestRedirect):
        return error
    if error.code is None or error.code >= 500:
        return _on_bug(error)
    return error_response(_translated(error))


def _translated(error: HTTPException) -> AnimeBoothError:
    if isinstance(error, NotFound):
        return errors.NotFound()
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        return errors.MethodNotAllowed(method=request.method, allowed=allowed)
    if isinstance(error, RequestEntityTooLarge):
        return errors.FileTooLarge(limit_mib=(request.max_content_length or 0) // 2**20)
    return errors.BadRequest()


def _on_bug(error: Exception) -> Response:
    _log.error("Request %s failed", g.get("request_id"), exc_info=error)
    return error_response(errors.InternalError())


def _set_headers(response: Response) -> Response:
    response.headers[REQUEST_ID_HEADER] = g.request_id
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    return response
