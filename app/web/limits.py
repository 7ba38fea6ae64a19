"""Who may convert, how often, and how many at once."""

from __future__ import annotations

import hmac
import ipaddress
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import BoundedSemaphore
from typing import Final, TypeAlias

from flask import Flask, Request, request
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter, RateLimitExceeded
from limits import parse_many
from limits.errors import ConfigurationError
from werkzeug.http import parse_list_header

from app.config import SettingError
from app.errors import Forbidden, Overloaded, RateLimited, Unauthorized

View: TypeAlias = Callable[[], ResponseReturnValue]

OVERLOADED_SECONDS: Final = 5
"""Told as Retry-After where nothing better is known."""

_PROXY_HEADERS: Final = (
    "Forwarded",
    "Via",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Real-IP",
)
"""Sent by no client of its own accord, but by most proxies, one or another."""


class Gate:
    """At most ``capacity`` requests inside; further ones are turned away, not queued.

    retry_after: in how many seconds it is worth coming back.
    """

    def __init__(self, capacity: int, retry_after: Callable[[], int] = lambda: OVERLOADED_SECONDS) -> None:
        self._places = BoundedSemaphore(capacity)
        self._retry_after = retry_after

    @contextmanager
    def entered(self, *, full: bool = False) -> Iterator[None]:
        """Hold a place for the ``with`` block. Raises Overloaded where there is none, or the server says ``full``."""
        if full or not self._places.acquire(blocking=False):
            raise Overloaded(seconds=self._retry_after())
        try:
            yield
        finally:
            self._places.release()


def rate_limited(app: Flask, rate: str, storage: str) -> Callable[[View], View]:
    """A decorator that lets each client call a view as often as ``rate`` says; an empty ``rate`` lets all through.

    Loopback is exempt. Raises SettingError for a ``rate`` or ``storage`` that cannot be used. If the storage fails
    later, each process counts for itself until it is back. The view then raises RateLimited.
    """
    if not rate.strip():
        return lambda view: view
    limiter = _limiter(app, rate, storage)
    limit = limiter.limit(rate, exempt_when=lambda: is_loopback(request.remote_addr))
    return lambda view: _translating(limiter, limit(view))


def _translating(limiter: Limiter, view: View) -> View:
    @wraps(view)
    def translated() -> ResponseReturnValue:
        try:
            return view()
        except RateLimitExceeded:
            raise RateLimited(seconds=_seconds_to_wait(limiter)) from None

    return translated


def _seconds_to_wait(limiter: Limiter) -> int:
    current = limiter.current_limit
    return max(1, math.ceil(current.reset_at - time.time())) if current else 1


def require_key(sent_by: Request, key: str) -> None:
    """Raise Unauthorized unless ``sent_by`` carries ``key`` as Bearer token or as X-API-Key. No ``key``: all may."""
    if key and not hmac.compare_digest(sent_key(sent_by).encode(), key.encode()):
        raise Unauthorized


def require_owner(sent_by: Request, key: str, trusted_proxies: int) -> None:
    """Let pass what this very machine sends, and who carries ``key``. Raises Unauthorized; Forbidden without a key."""
    if _is_this_machine(sent_by, trusted_proxies):
        return
    if not key:
        raise Forbidden
    require_key(sent_by, key)


def _is_this_machine(sent_by: Request, trusted_proxies: int) -> bool:
    """Whether the client is on this machine; False where a proxy speaks for one whose address is not known.

    A proxy on this machine makes all the world look like loopback unless it is a trusted one and names its clients;
    the headers that most of them add give it away.
    """
    hops = len(parse_list_header(sent_by.headers.get("X-Forwarded-For", "")))
    named = 0 < trusted_proxies <= hops
    spoken_for = any(header in sent_by.headers for header in _PROXY_HEADERS)
    return is_loopback(sent_by.remote_addr) and (named or not spoken_for)


def is_loopback(address: str | None) -> bool:
    """Whether ``address`` is this very machine (``127.0.0.0/8``, ``::1``, also as IPv4 mapped into IPv6)."""
    ip = _ip(address)
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return bool(ip and (mapped or ip).is_loopback)


def client_key(address: str | None) -> str:
    """What counts as one client: an IPv4 address, or the /64 network that one IPv6 connection is given."""
    ip = _ip(address)
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return address or "unknown"


def _limiter(app: Flask, rate: str, storage: str) -> Limiter:
    try:
        parse_many(rate)
    except ValueError:
        raise SettingError(f"ANIMEBOOTH_RATE_LIMIT cannot be {rate!r}: write it like “120 per minute”.") from None
    try:
        return Limiter(
            lambda: client_key(request.remote_addr), app=app, storage_uri=storage, in_memory_fallback_enabled=True
        )
    except (ConfigurationError, ValueError):
        # The address may hold a password: it is not repeated.
        raise SettingError(
            "ANIMEBOOTH_RATE_LIMIT_STORAGE cannot be used: write memory:// or redis://HOST:PORT."
        ) from None


def sent_key(sent_by: Request) -> str:
    """The key that ``sent_by`` carries, right or wrong; empty where it carries none."""
    # Not by werkzeug's Authorization, which takes a token with "=" in it for a list of parameters.
    scheme, _, bearer = sent_by.headers.get("Authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" and bearer else sent_by.headers.get("X-API-Key", "")


def _ip(address: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address or "")
    except ValueError:
        return None
