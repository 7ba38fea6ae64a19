"""The whole description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app import __version__
from app.types import StyleId
from app.web.catalogue import ServiceLimits
from app.web.openapi.convert import convert_operation
from app.web.openapi.parts import Json, header_components, security_schemes
from app.web.openapi.reading import (
    healthz_operation,
    metrics_operation,
    openapi_operation,
    queue_operation,
    readyz_operation,
    status_operation,
    styles_operation,
)
from app.web.openapi.schemas import schema_components

_ABOUT: Final = (
    "A photo goes in, an anime picture comes out. Everything happens on this server; no picture is written to disk.\n\n"
    "`curl -F image=@me.jpg -F style=cute http://localhost:8000/convert -o anime.jpg`"
)


def openapi_document(styles: Sequence[StyleId], limits: ServiceLimits, *, key_required: bool) -> Json:
    """The whole document. ``styles``: the ids that `style` may name. key_required: whether /convert asks for a key."""
    return {
        "openapi": "3.1.0",
        "info": _info(),
        "servers": [{"url": "/", "description": "This server"}],
        "paths": {
            "/convert": {"post": convert_operation(styles, limits, key_required=key_required)},
            "/styles": {"get": styles_operation()},
            "/queue": {"get": queue_operation()},
            "/healthz": {"get": healthz_operation()},
            "/readyz": {"get": readyz_operation()},
            "/metrics": {"get": metrics_operation()},
            "/status": {"get": status_operation()},
            "/openapi.json": {"get": openapi_operation()},
        },
        "components": {
            "schemas": schema_components(styles),
            "headers": header_components(),
            "securitySchemes": security_schemes(),
        },
    }


def _info() -> Json:
    return {
        "title": "AnimeBooth",
        "version": __version__,
        "summary": "Turns a photo into an anime picture.",
        "description": _ABOUT,
        "license": {"name": "Apache-2.0 (the code; each style has its own licence)", "identifier": "Apache-2.0"},
    }
