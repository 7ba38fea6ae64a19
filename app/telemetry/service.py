"""All that one service keeps for its owner, assembled once."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from app.config import SettingError
from app.telemetry.history import History
from app.telemetry.metrics import Metrics
from app.telemetry.shared import Shared
from app.telemetry.traces import Traces


@dataclass(frozen=True, slots=True)
class Telemetry:
    """metrics: also the Observer of everything below the web. log_requests: whether each request gets a line."""

    metrics: Metrics
    history: History
    traces: Traces
    shared: Shared | None
    log_requests: bool

    @classmethod
    def assemble(cls, *, log_format: str = "text", traces: str = "") -> Telemetry:
        """As the settings of these names say. Raises SettingError where traces cannot be made."""
        shared, opened = Shared.offered(), open_traces(traces)
        return cls(Metrics(shared, opened), History(shared), opened, shared, log_requests=log_format == "json")


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
