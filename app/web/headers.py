"""Headers that every answer carries: a request id and what a browser may and may not do with it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

SECURITY_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Permissions-Policy": "camera=(self), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
)

REQUEST_ID_HEADER: Final = "X-Request-Id"
REQUEST_ID_PATTERN: Final = r"[A-Za-z0-9._-]{1,64}"
REQUEST_ID_WORDS: Final = "1 to 64 letters, digits, “.”, “_” and “-”"


def is_request_id(text: str) -> bool:
    """Whether ``text`` is short and plain, so that it can go into a log."""
    return re.fullmatch(REQUEST_ID_PATTERN, text) is not None


def request_id(sent: str | None) -> str:
    """The id a proxy or client sent, if it is one; else a new one."""
    return sent if sent and is_request_id(sent) else uuid.uuid4().hex
