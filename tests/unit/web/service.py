"""A service for tests: the real application and engine, whose networks answer with the negative."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_app
from app.config import Settings
from app.engine import Engine
from tests.unit.stubs import photo, png, started

PHOTO = png(photo(96, 64))
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
"""What Chrome sends with a form."""


def application(engine: Engine | None = None, **settings: Any) -> Flask:
    return create_app(Settings(**settings), engine or started())


def client(engine: Engine | None = None, **settings: Any) -> FlaskClient:
    return application(engine, **settings).test_client()


def form(data: bytes = PHOTO, name: str = "me.png", **fields: Any) -> dict[str, Any]:
    """Fields of a multipart form with one picture."""
    return {"image": (BytesIO(data), name), **fields}


def send(service: FlaskClient, data: bytes = PHOTO, name: str = "me.png", **fields: Any) -> TestResponse:
    """POST /convert as a multipart form."""
    return service.post("/convert", data=form(data, name, **fields))


def problem(response: TestResponse) -> dict[str, Any]:
    """The members of a problem document."""
    assert response.content_type == "application/problem+json", response.content_type
    document: dict[str, Any] = response.get_json(force=True)
    return document
