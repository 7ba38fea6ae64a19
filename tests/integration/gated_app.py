"""A WSGI application for tests of the server alone: a request to /hold stays inside until the test lets it go."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs


class _Engine:
    def start(self) -> None:
        """Nothing to start."""


class GatedApp:
    """Answers with the number of bytes of the body; what the worker asks of the real application is here too."""

    def __init__(self) -> None:
        self.config = {"MAX_CONTENT_LENGTH": 1024 * 1024, "UPLOADS_ROOM": 16 * 1024 * 1024}
        self.extensions = {"animebooth": _Engine()}

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["animebooth.overloaded"]:
            start_response("503 Service Unavailable", [("Retry-After", "5"), ("Content-Length", "0")])
            return []
        if int(environ.get("CONTENT_LENGTH") or 0) > self.config["MAX_CONTENT_LENGTH"]:
            start_response("413 Content Too Large", [("Content-Length", "0")])
            return []
        return self._answer(environ, start_response)

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        begun = time.monotonic()
        received = len(environ["wsgi.input"].read())
        query = parse_qs(environ["QUERY_STRING"])
        if environ["PATH_INFO"] == "/hold":
            _wait_at_gate(int(query["gate"][0]))
            if "gone" in query and environ["animebooth.gone"]():
                _wait_at_gate(int(query["gone"][0]))
        if environ["PATH_INFO"] == "/fail":
            raise RuntimeError("this application fails")
        body = b"x" * int(query["answer"][0]) if "answer" in query else str(received).encode()
        headers = [("Content-Length", str(len(body))), ("X-Begun", str(begun))]
        headers += [("X-Arrived", str(environ["animebooth.arrived"])), ("X-Scheme", environ["wsgi.url_scheme"])]
        start_response("200 OK", headers)
        return [body]


def _wait_at_gate(port: int) -> None:
    # An open gate is one where nobody listens any more.
    with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)) as gate:
        gate.recv(1)


application = GatedApp()
