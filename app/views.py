"""The routes. Each view reads the request, asks the engine and shapes the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Final

from flask import Blueprint, Response, current_app, g, jsonify, render_template, request, send_from_directory
from flask.typing import ResponseReturnValue

from app.deadline import Deadline
from app.engine import Engine
from app.errors import InvalidOption
from app.i18n import Language
from app.options import ConvertOptions, parse_options
from app.page_text import page_language
from app.types import StyleId
from app.web.account import account
from app.web.answers import page_response, picture_response
from app.web.catalogue import ServiceLimits, catalogue, queue_document, status_document
from app.web.headers import REQUEST_ID_WORDS, is_request_id
from app.web.limits import Gate, View, require_key
from app.web.negotiation import accepted_format, prefers_page
from app.web.openapi.document import openapi_document
from app.web.uploads import given_options, merged_options, read_upload

STARTING_SECONDS: Final = 2
"""Told as Retry-After by /readyz while the engine is not ready."""
_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class Guards:
    """What stands before POST /convert: the client's rate, the key (empty: none) and the places inside."""

    rate_limited: Callable[[View], View]
    api_key: str
    gate: Gate


def create_blueprint(engine: Engine, limits: ServiceLimits, guards: Guards) -> Blueprint:
    """Every route of the service but the static files."""
    views = _Views(engine, limits, guards)
    blueprint = Blueprint("web", __name__)
    blueprint.before_app_request(views.start_engine)
    blueprint.add_url_rule("/", view_func=views.index)
    blueprint.add_url_rule("/convert", view_func=guards.rate_limited(views.convert), methods=["POST"])
    blueprint.add_url_rule("/styles", view_func=views.styles)
    blueprint.add_url_rule("/queue", view_func=views.queue)
    blueprint.add_url_rule("/healthz", view_func=views.healthz)
    blueprint.add_url_rule("/readyz", view_func=views.readyz)
    blueprint.add_url_rule("/openapi.json", view_func=views.openapi)
    blueprint.add_url_rule("/docs", view_func=views.docs)
    blueprint.add_url_rule("/favicon.ico", view_func=views.favicon)
    return blueprint


class _Views:
    def __init__(self, engine: Engine, limits: ServiceLimits, guards: Guards) -> None:
        self._engine = engine
        self._limits = limits
        self._guards = guards

    def start_engine(self) -> None:
        # gunicorn's hook has done so already; under another server the first request of a process does it.
        self._engine.start_in_background()

    def index(self) -> ResponseReturnValue:
        limits = asdict(self._limits) | {"default_style": self._engine.default_style}
        language = page_language(request)
        page = render_template(
            "index.html",
            lang=language,
            styles=self._engine.styles(),
            limits=limits,
            key_required=bool(self._guards.api_key),
        )
        return _localised(Response(page), language)

    def convert(self) -> ResponseReturnValue:
        deadline = _deadline(self._limits.deadline)
        require_key(request, self._guards.api_key)
        with self._guards.gate.entered(full=bool(request.environ.get("animebooth.overloaded"))):
            asked = given_options(request.args)
            # A wrong query is refused before the body is read, whatever the form goes on to say.
            self._options(asked)
            upload = read_upload(request)
            options = self._options(merged_options(asked, upload.fields))
            account().style = options.style or self._engine.default_style
            result = self._engine.convert_with(upload.data, options, deadline, g.request_id)
        account().result = result
        if prefers_page(request.accept_mimetypes):
            language = page_language(request)
            page = page_response(result, upload.name, self._title(result.style), language)
            return _private(_localised(page, language))
        seconds = self._limits.deadline - deadline.remaining()
        return _private(picture_response(result, upload.name, seconds))

    def styles(self) -> ResponseReturnValue:
        return _revalidated(jsonify(catalogue(self._engine.styles(), self._engine.default_style, self._limits)))

    def queue(self) -> ResponseReturnValue:
        name = request.args.get("id", "")
        if name and not is_request_id(name):
            raise InvalidOption(option="id", value=name, allowed=REQUEST_ID_WORDS)
        place = self._engine.place(name) if name else None
        return _unstored(jsonify(queue_document(self._engine.crowd(), place)))

    def healthz(self) -> ResponseReturnValue:
        return _unstored(jsonify(status="ok"))

    def readyz(self) -> ResponseReturnValue:
        status = self._engine.status()
        response = _unstored(jsonify(status_document(status)))
        if status.state != "ready":
            response.status_code = 503
            response.headers["Retry-After"] = str(STARTING_SECONDS)
        return response

    def openapi(self) -> ResponseReturnValue:
        return _revalidated(jsonify(self._description))

    def docs(self) -> ResponseReturnValue:
        host = request.host_url.rstrip("/")
        return _revalidated(Response(render_template("docs.html", lang="en", api=self._description, host=host)))

    def favicon(self) -> ResponseReturnValue:
        return send_from_directory(current_app.static_folder or "", "icons/icon-48.png", max_age=_DAY)

    def _title(self, style: StyleId) -> Mapping[Language, str]:
        return next(info.card.title for info in self._engine.styles() if info.card.id == style)

    def _options(self, given: Mapping[str, str]) -> ConvertOptions:
        options = parse_options(given, [info.card.id for info in self._engine.styles()])
        if options.format is None and not prefers_page(request.accept_mimetypes):
            options = replace(options, format=accepted_format(request.accept_mimetypes))
        return options

    @cached_property
    def _description(self) -> dict[str, Any]:
        styles = [info.card.id for info in self._engine.styles()]
        return openapi_document(styles, self._limits, key_required=bool(self._guards.api_key))


def _deadline(seconds: float) -> Deadline:
    """The current request's. Our worker says when it was all here, and can tell whether its client has gone."""
    environ = request.environ
    return Deadline(seconds, since=environ.get("animebooth.arrived"), gone=environ.get("animebooth.gone"))


def _localised(page: Response, language: str) -> Response:
    page.headers["Content-Language"] = language
    page.headers.setdefault("Cache-Control", "no-cache")
    page.vary.update(["Accept-Language", "Cookie"])
    return page


def _unstored(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    return response


def _private(response: Response) -> Response:
    response.headers["Cache-Control"] = "private, no-store"
    response.vary.add("Accept")
    return response


def _revalidated(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-cache"
    response.add_etag()
    response.make_conditional(request)
    return response
