"""Static files: a version by content in each address, so that browsers may keep them for ever."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from flask import Flask, Response, request

VERSION_PARAMETER: Final = "v"
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_VERSION_DIGITS: Final = 12


def install(app: Flask) -> None:
    """``url_for('static', filename=...)`` gains ``?v=<content>``; an address with the right version is kept a year.

    Without one, as where a script imports another, the browser asks again each time and gets 304 by ETag.
    """
    folder = Path(app.static_folder or "")

    def add_version(endpoint: str, values: dict[str, Any]) -> None:
        path = folder / values.get("filename", "")
        if endpoint == "static" and path.is_file():
            values.setdefault(VERSION_PARAMETER, _version_of(path))

    def set_caching(response: Response) -> Response:
        if request.endpoint == "static" and response.status_code in (200, 206, 304):
            path = folder / (request.view_args or {})["filename"]
            current = request.args.get(VERSION_PARAMETER) == _version_of(path)
            response.headers["Cache-Control"] = _FOR_EVER if current else "no-cache"
        return response

    app.url_defaults(add_version)
    app.after_request(set_caching)


def _version_of(path: Path) -> str:
    return _digest(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _digest(path: Path, changed_ns: int) -> str:
    # The time of the last change is not used: it makes an edited file a new question to the cache.
    del changed_ns
    return hashlib.sha256(path.read_bytes()).hexdigest()[:_VERSION_DIGITS]
