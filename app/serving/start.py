"""The engine's start in the process that serves, after every fork."""

from __future__ import annotations

import threading
from typing import Any, Final

from app.errors import ModelError
from app.serving.worker import Worker
from app.telemetry.observer import UNOBSERVED

UPLOADS_IN_MEMORY: Final = 16
"""Room for the bodies of all uploads inside, in uploads of the largest size. Usual photos are a quarter of that size,
so the count of requests is the bound that is met; this one keeps 64 largest ones from taking a gigabyte."""


def start_engine(worker: Worker, *, max_requests: int) -> None:
    """Set the worker's bounds and start its engine in the background; end the service if it cannot serve at all."""
    application: Any = worker.app.wsgi()
    max_body: int = application.config["MAX_CONTENT_LENGTH"]
    worker.limit(max_requests=max_requests, max_body=max_body, max_bytes=UPLOADS_IN_MEMORY * max_body)
    worker.observer = application.extensions.get("animebooth-observer", UNOBSERVED)
    engine = application.extensions["animebooth"]
    threading.Thread(target=_start, args=(engine, worker), name="engine-start", daemon=True).start()


def _start(engine: Any, worker: Worker) -> None:
    try:
        engine.start()
    except ModelError as error:
        worker.give_up(f"AnimeBooth cannot start: {error}")
