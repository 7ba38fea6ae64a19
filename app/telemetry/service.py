"""All that one service keeps for its owner, assembled once."""

from __future__ import annotations

from dataclasses import dataclass

from app.telemetry.history import History
from app.telemetry.metrics import Metrics
from app.telemetry.shared import Shared
from app.telemetry.traces import Traces, open_traces


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
