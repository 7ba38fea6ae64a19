"""Around every request: its trace, its counts and, by setting, its line in the log.

None of them holds anything of a person's: no address, no name of a file, no query, no header but the request's id.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from flask import Flask, Response, g, request

from app.conversion import Result
from app.errors import ClientGone
from app.telemetry.history import Outcome
from app.telemetry.logs import FACTS
from app.telemetry.service import Telemetry
from app.telemetry.traces import Traces
from app.web.account import account

CONVERT: Final = "/convert"
OTHER: Final = "other"
"""Route of addresses that are none, and method of those that nobody uses: a client could send any."""

_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_log = logging.getLogger("app.requests")

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def install(app: Flask, telemetry: Telemetry) -> None:
    """Before everything else that is installed on ``app``: what comes first is last to see an answer."""

    def tell(response: Response) -> Response:
        facts = _facts(response)
        _count(telemetry, response.status_code, facts["route"], facts["seconds"])
        telemetry.traces.answered(f"{facts['method']} {facts['route']}", _attributes(facts))
        if telemetry.log_requests:
            _log.info("request", extra={FACTS: {**facts, "trace_id": telemetry.traces.trace_id()}})
        return response

    app.before_request(_begin)
    app.after_request(tell)
    app.wsgi_app = _traced(app.wsgi_app, telemetry.traces)  # type: ignore[method-assign, assignment]


def _begin() -> None:
    g.began = request.environ.get("animebooth.arrived", time.monotonic())


def _traced(application: WsgiApp, traces: Traces) -> WsgiApp:
    def traced(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        names = {"traceparent": "HTTP_TRACEPARENT", "tracestate": "HTTP_TRACESTATE"}
        sent = {name: environ[key] for name, key in names.items() if key in environ}
        with traces.request(sent):
            return application(environ, start_response)

    return traced


def _facts(response: Response) -> dict[str, Any]:
    kept = account()
    facts = {
        "request_id": g.get("request_id"),
        "method": request.method if request.method in _METHODS else OTHER,
        "route": request.url_rule.rule if request.url_rule else OTHER,
        "status": response.status_code,
        "seconds": round(time.monotonic() - g.began, 4),
        "upload_bytes": request.content_length,
        "answer_bytes": response.content_length,
        "style": kept.style,
        "error": kept.code,
        "cache": response.headers.get("X-Cache"),
        **(_picture(kept.result) if kept.result else {}),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _picture(result: Result) -> dict[str, Any]:
    return {
        "format": result.format,
        "width": result.width,
        "height": result.height,
        "faces": result.faces,
        "notices": list(result.notices),
        "stages": {name: round(seconds, 4) for name, seconds in result.timings.items()},
    }


def _attributes(facts: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    # The names of OpenTelemetry's conventions for HTTP servers, and ours for the rest.
    names = {
        "method": "http.request.method",
        "route": "http.route",
        "status": "http.response.status_code",
        "error": "error.type",
    }
    plain = {name: value for name, value in facts.items() if isinstance(value, str | int | float)}
    return {names.get(name, f"animebooth.{name}"): value for name, value in plain.items()}


def _count(telemetry: Telemetry, status: int, route: str, seconds: float) -> None:
    kept = account()
    telemetry.metrics.request_answered(route, status, kept.style, seconds)
    if route != CONVERT or request.method != "POST":
        return
    outcome = _outcome(status)
    if outcome:
        telemetry.history.add(outcome, seconds)
    if kept.code:
        telemetry.metrics.request_rejected(kept.code)
    if request.environ.get("animebooth.overloaded"):
        telemetry.metrics.refused("uploads")


def _outcome(status: int) -> Outcome | None:
    if status == ClientGone.status:
        return None
    if status < 400:
        return "picture"
    if status in (429, 503):
        return "refused"
    return "failed" if status >= 500 else "mistaken"
