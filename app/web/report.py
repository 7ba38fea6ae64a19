"""How the service is and what it has done, put together for its owner: as JSON, and for the page."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

from app import __version__
from app.conversion import STAGES
from app.engine import Engine, EngineStatus, StyleInfo
from app.telemetry.minutes import Minute, minute_now
from app.telemetry.processes import service_processes
from app.telemetry.service import Telemetry
from app.telemetry.state import ServiceFacts, StyleFacts
from app.telemetry.summary import Summary, summarise

CHART_HEIGHT: Final = 114
"""Of the tallest column, in the units of the page's drawing."""

_STACKED: Final = ("picture", "refused", "failed", "mistaken")
"""From the foot of a column upwards."""

Block: TypeAlias = tuple[str, float, float]
"""A part of a column: the outcome it stands for, where it begins and how tall it is."""

Mood: TypeAlias = Literal["starting", "closed", "faulty", "busy", "well"]
"""How the service is in one word. ``closed``: it cannot convert at all. ``faulty``: some requests failed by its own
fault lately. ``busy``: some were asked to come again later."""


@dataclass(frozen=True, slots=True)
class Report:
    """uptime: seconds since the first process of the service started; None where the system does not tell."""

    mood: Mood
    status: EngineStatus
    styles: Sequence[StyleInfo]
    summary: Summary
    uptime: float | None

    @property
    def stages(self) -> Mapping[str, float]:
        """Mean seconds in each stage, in the order of the work."""
        known = self.summary.stages
        return {stage: known[stage] for stage in STAGES if stage in known}

    @property
    def busiest_minute(self) -> int:
        """The most requests for a picture in one minute of the last hour."""
        return max(_requests(minute) for minute in self.summary.hour)

    @property
    def columns(self) -> list[list[Block]]:
        """The last hour to draw, a column a minute."""
        scale = CHART_HEIGHT / max(1, self.busiest_minute)
        return [_column(minute, scale) for minute in self.summary.hour]


def _requests(minute: Minute) -> int:
    return sum(getattr(minute, outcome) for outcome in _STACKED)


def _column(minute: Minute, scale: float) -> list[Block]:
    blocks, foot = [], 0.0
    for outcome in _STACKED:
        height = getattr(minute, outcome) * scale
        if height:
            blocks.append((outcome, foot, height))
        foot += height
    return blocks


def make_report(engine: Engine, telemetry: Telemetry) -> Report:
    """As things are at this moment."""
    processes = service_processes(telemetry.shared)
    summary = summarise(telemetry.metrics.families(), telemetry.history.minutes(), processes, minute_now())
    status = engine.status()
    return Report(
        mood=_mood(status, summary.lately),
        status=status,
        styles=engine.styles(),
        summary=summary,
        uptime=time.time() - min(process.started for process in processes) if processes else None,
    )


def _mood(status: EngineStatus, lately: Minute) -> Mood:
    if status.state != "ready":
        return "starting" if status.state == "starting" else "closed"
    if lately.failed:
        return "faulty"
    return "busy" if lately.refused else "well"


def report_document(report: Report) -> dict[str, Any]:
    """The answer of /status to programs."""
    summary = report.summary
    return {
        "mood": report.mood,
        "status": report.status.state,
        "reason": report.status.reason,
        "faces": report.status.faces,
        "version": __version__,
        "uptime_seconds": report.uptime,
        "now": {"waiting": summary.waiting, "under_way": summary.under_way, "memory_bytes": summary.memory},
        "pictures": {
            "total": summary.pictures,
            "typical_seconds": summary.typical_seconds,
            "slow_seconds": summary.slow_seconds,
            "by_style": dict(summary.by_style),
            "stage_seconds": dict(report.stages),
            "in_each_run": summary.batch_pictures,
        },
        "answers": dict(summary.by_status),
        "rejected": dict(summary.rejected),
        "refused": dict(summary.refused),
        "cache": {
            "asked": dict(summary.cache),
            "share": summary.cache_share,
            "bytes": summary.cache_bytes,
            "hit_seconds": summary.hit_seconds,
        },
        "last_hour": [asdict(minute) for minute in summary.hour],
        "processes": [asdict(process) for process in summary.processes],
    }


def service_facts(engine: Engine) -> ServiceFacts:
    """How the service is, for /metrics."""
    status = engine.status()
    styles = [
        StyleFacts(
            style=info.card.id,
            kind=info.card.kind,
            variant=info.variant,
            sha256=info.sha256,
            licence=info.card.licence.id,
            state=info.state.partition(":")[0],
        )
        for info in engine.styles()
    ]
    return ServiceFacts(__version__, status.state == "ready", status.faces == "ready", styles)
