"""What the owner of the service sees: /metrics for programs, /status for people. From this machine, or with the key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flask import Blueprint, Request, Response, jsonify, render_template, request
from flask.typing import ResponseReturnValue

from app import __version__
from app.engine import Engine
from app.errors import AnimeBoothError, Forbidden, Unauthorized
from app.page_text import page_language
from app.telemetry.processes import process_metrics, service_processes
from app.telemetry.service import Telemetry
from app.telemetry.state import state_metrics
from app.web import figures
from app.web.account import account
from app.web.limits import View, require_owner, sent_key
from app.web.negotiation import prefers_page
from app.web.problems import BEARER_CHALLENGE, public_errors
from app.web.report import make_report, report_document, service_facts

REFRESH_SECONDS: Final = 5
"""How often the page looks again while somebody looks at it; without a script it does so ten times as rarely."""

_FIGURES: Final = {
    "whole": figures.whole,
    "seconds": figures.seconds,
    "per_cent": figures.per_cent,
    "memory": figures.memory,
    "span": figures.span,
}


@dataclass(frozen=True, slots=True)
class Door:
    """Who may see it. rate_limited: so that keys cannot be tried out. The others are as in Settings."""

    rate_limited: Callable[[View], View]
    api_key: str
    trusted_proxies: int

    def check(self, sent_by: Request) -> None:
        """Raises Unauthorized or Forbidden."""
        require_owner(sent_by, self.api_key, self.trusted_proxies)


def create_blueprint(engine: Engine, telemetry: Telemetry, door: Door) -> Blueprint:
    """The routes of the owner."""
    views = _Views(engine, telemetry, door)
    blueprint = Blueprint("owner", __name__)
    blueprint.add_url_rule("/metrics", view_func=door.rate_limited(views.metrics))
    blueprint.add_url_rule("/status", view_func=door.rate_limited(views.status))
    blueprint.after_request(_unstored)
    return blueprint


class _Views:
    def __init__(self, engine: Engine, telemetry: Telemetry, door: Door) -> None:
        self._engine = engine
        self._telemetry = telemetry
        self._door = door

    def metrics(self) -> ResponseReturnValue:
        self._door.check(request)
        more = [
            *process_metrics(service_processes(self._telemetry.shared)),
            *state_metrics(service_facts(self._engine)),
        ]
        text, content_type = self._telemetry.metrics.exposition(request.headers.get("Accept", ""), more)
        return Response(text, content_type=content_type)

    def status(self) -> ResponseReturnValue:
        try:
            self._door.check(request)
        except (Unauthorized, Forbidden) as error:
            if not prefers_page(request.accept_mimetypes):
                raise
            return _closed_page(error)
        report = make_report(self._engine, self._telemetry)
        if not prefers_page(request.accept_mimetypes):
            return jsonify(report_document(report))
        return _page(report=report, by_key=sent_key(request) != "")


def _closed_page(error: AnimeBoothError) -> Response:
    """Asks for the key, or says how to set one; it tells nothing of the service."""
    account().code = error.code
    page = _page(report=None, error=error)
    page.status_code = error.status
    if isinstance(error, Unauthorized):
        page.headers["WWW-Authenticate"] = BEARER_CHALLENGE
    return page


def _page(**content: object) -> Response:
    language = page_language(request)
    page = Response(
        render_template(
            "status.html",
            lang=language,
            here=request.path,
            refresh_seconds=REFRESH_SECONDS,
            version=__version__,
            error_codes={error.code for error in public_errors()},
            **_FIGURES,
            **content,
        )
    )
    page.headers["Content-Language"] = language
    page.vary.update(["Accept-Language", "Cookie"])
    return page


def _unstored(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    response.vary.update(["Accept", "Authorization", "X-API-Key"])
    return response
