"""The test's end of ``gated_app``: sees requests arrive inside, and lets them go."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

ARRIVAL_LIMIT = 30.0
"""Seconds within which an expected request must be inside."""


class Gate:
    """Each connection made to it is one request that is being worked on."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._inside: list[socket.socket] = []

    @property
    def path(self) -> str:
        """The address a request has to go to in order to be held."""
        return f"/hold?gate={self._listener.getsockname()[1]}"

    def wait_for(self, count: int, limit: float = ARRIVAL_LIMIT) -> None:
        """Block until ``count`` requests more are inside. Raises TimeoutError after ``limit`` seconds."""
        self._listener.settimeout(limit)
        self._inside += [self._listener.accept()[0] for _ in range(count)]

    def open(self) -> None:
        """Let go all that are inside, and whoever comes from now on."""
        self._listener.close()
        for held in self._inside:
            held.close()
        self._inside.clear()


@contextlib.contextmanager
def gate() -> Iterator[Gate]:
    """A closed gate; it opens at the end of the block at the latest."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        gate = Gate(listener)
        try:
            yield gate
        finally:
            gate.open()
