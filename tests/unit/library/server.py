"""A web server of this machine alone that behaves as it is told, and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

Handler: TypeAlias = BaseHTTPRequestHandler
Script: TypeAlias = Callable[[Handler], None]


@dataclass
class Web:
    """``url``: where it is. ``pages``: what answers to each path. ``asked``: path and Range of each request."""

    url: str = ""
    pages: dict[str, Script] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def put(self, path: str, script: Script) -> str:
        """Let ``script`` answer to ``path``; returns the address."""
        self.pages[path] = script
        return self.url + path


@contextmanager
def serving() -> Iterator[Web]:
    web = Web()

    class Answerer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            web.asked.append((self.path, self.headers.get("Range")))
            self.close_connection = True
            web.pages.get(self.path, not_found)(self)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up is what some tests are about."""

    server = Server(("127.0.0.1", 0), Answerer)
    web.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(handler: Handler, status: int, body: bytes = b"", **headers: str) -> None:
    """A whole answer; header names have underscores for hyphens."""
    handler.send_response(status)
    for name, value in {"Content_Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def not_found(handler: Handler) -> None:
    send(handler, 404, b"<html>not here</html>", Content_Type="text/html")


def whole(body: bytes, **headers: str) -> Script:
    """Sends ``body``, knowing nothing of ranges."""
    return lambda handler: send(handler, 200, body, Content_Type="application/octet-stream", **headers)


def redirect(target: str, status: int = 302) -> Script:
    return lambda handler: send(handler, status, Location=target)


class Ranged:
    """A file that can be gone on with; ``cuts``: after how many bytes each connection ends, one after the other."""

    def __init__(self, body: bytes, *, tag: str | None = '"one"', cuts: list[int] | None = None) -> None:
        self.body = body
        self.tag = tag
        self.cuts = cuts or []

    def __call__(self, handler: Handler) -> None:
        start = self._start(handler)
        if start > len(self.body):
            send(handler, 416)
            return
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(self.body) - 1}/{len(self.body)}")
        if self.tag is not None:
            handler.send_header("ETag", self.tag)
        handler.send_header("Content-Length", str(len(self.body) - start))
        handler.end_headers()
        rest = self.body[start:]
        handler.wfile.write(rest[: self.cuts.pop(0)] if self.cuts else rest)

    def _start(self, handler: Handler) -> int:
        asked, version = handler.headers.get("Range"), handler.headers.get("If-Range")
        if asked is None or version != self.tag:
            return 0
        return int(asked.removeprefix("bytes=").rstrip("-"))
