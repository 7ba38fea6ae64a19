"""The worker with little patience, so that its tests need none."""

from __future__ import annotations

from app.serving import worker
from app.serving.patience import Patience


class Worker(worker.Worker):
    """Gives up on clients within a second or so."""

    patience = Patience(head=0.3, body=0.3, least_rate=1e9, keep_alive=0.3, send=1, linger_idle=0.3, linger=0.3)
