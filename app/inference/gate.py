"""GatedSession: a bounded number of network runs at once, over all networks of a process."""

from __future__ import annotations

import threading

from app.types import Session, Tensor


class GatedSession:
    """Runs ``session`` when ``gate`` lets it: more runs at once than cores only slow each other down."""

    def __init__(self, session: Session, gate: threading.Semaphore) -> None:
        self._session = session
        self._gate = gate

    def run(self, tensor: Tensor) -> Tensor:
        """As the session's own ``run``, after waiting for a place. A wait is short: one run of the network."""
        with self._gate:
            return self._session.run(tensor)
