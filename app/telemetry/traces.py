"""Traces of what is done for a request. None are made, and none of their packages is loaded, unless asked for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias
from urllib.parse import urlsplit

from app.config import SettingError

Attributes: TypeAlias = Mapping[str, str | int | float | bool]


class Traces:
    """This one makes none."""

    def request(self, headers: Mapping[str, str]) -> AbstractContextManager[object]:
        """Goes around one request. headers: names in small letters; of these, ``traceparent`` is read."""
        return nullcontext()

    def answered(self, name: str, attributes: Attributes) -> None:
        """Within ``request``: what it was and how it ended, as OpenTelemetry's conventions for HTTP name it."""

    def span(self, name: str) -> AbstractContextManager[object]:
        """Goes around a piece of work within ``request``."""
        return nullcontext()

    def trace_id(self) -> str | None:
        """Within ``request``: the id of its trace, 32 hexadecimal digits; None where there is none."""
        return None


def open_traces(endpoint: str) -> Traces:
    """Traces that go to ``endpoint``, the address of an OTLP collector for traces over HTTP; "" for none.

    Raises SettingError for what is no such address, and where the packages for it are missing.
    """
    if not endpoint:
        return Traces()
    address = urlsplit(endpoint)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise SettingError(f"ANIMEBOOTH_TRACES cannot be {endpoint!r}: write it like http://collector:4318/v1/traces.")
    try:
        from app.telemetry.otel import sending_to
    except ImportError:
        raise SettingError(
            "ANIMEBOOTH_TRACES needs the packages of requirements-traces.txt; without them, leave it empty."
        ) from None
    return sending_to(endpoint)
