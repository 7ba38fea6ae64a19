"""Traces of what is done for a request. None are made, and none of their packages is loaded, unless asked for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

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
