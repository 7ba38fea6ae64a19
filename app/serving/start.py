"""The engine's start in the process that serves, after every fork."""

from __future__ import annotations

import threading
from typing import Any

from app.errors import ModelError
from app.serving.allocator import settle_allocator
from app.serving.worker import Worker
from app.telemetry.observer import UNOBSERVED


def start_engine(worker: Worker, *, max_requests: int) -> None:
    """Set the worker's bounds and start its engine in the background; end the service if it cannot serve at all."""
    settle_allocator()
    application: Any = worker.app.wsgi()
    max_body: int = application.config["MAX_CONTENT_LENGTH"]
    worker.limit(max_requests=max_requests, max_body=max_body, max_bytes=application.config["UPLOADS_ROOM"])
    worker.observer = application.extensions.get("animebooth-observer", UNOBSERVED)
    engine = application.extensions["animebooth"]
    threading.Thread(target=_start, args=(engine, worker), name="engine-start", daemon=True).start()


def _start(engine: Any, worker: Worker) -> None:
    try:
        engine.start()
    except ModelError as error:
        worker.give_up(f"AnimeBooth cannot start: {error}")
