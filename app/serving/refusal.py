"""An answer for what never reaches the application because it is no HTTP request."""

from __future__ import annotations

import json
from http import HTTPStatus

from app.errors import AnimeBoothError
from app.i18n import DEFAULT_LANGUAGE


def refusal(error: AnimeBoothError, request_id: str) -> bytes:
    """A whole HTTP/1.1 answer that says ``error`` as a problem document (RFC 9457) and closes the connection."""
    # Imported late: gunicorn's master loads the worker's class, and needs nothing of the web and of images.
    from app.web.headers import REQUEST_ID_HEADER
    from app.web.problems import problem_document

    document = problem_document(error, DEFAULT_LANGUAGE, request_id)
    body = json.dumps(document, ensure_ascii=False).encode() + b"\n"
    head = (
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Language: {DEFAULT_LANGUAGE}\r\n"
        f"Content-Length: {len(body)}\r\n"
        f"{REQUEST_ID_HEADER}: {request_id}\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Cache-Control: no-store\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode("ascii") + body
