"""How many uploads may be inside at once, and how much memory they may take together."""

from __future__ import annotations


class Admission:
    """Counts uploads from the moment their head is read until their answer is sent. For one thread only.

    ``max_requests`` is a count, ``max_bytes`` the room for all their bodies together. A single upload is always let
    in, so that a body limit larger than ``max_bytes`` does not lock everybody out.
    """

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        self._max_requests = max_requests
        self._max_bytes = max_bytes
        self._requests = 0
        self._bytes = 0

    def enter(self, size: int) -> bool:
        """Whether an upload of ``size`` bytes may come in; if so, it is counted until ``leave``."""
        full = self._requests >= self._max_requests or self._bytes + size > self._max_bytes
        if full and self._requests:
            return False
        self._requests += 1
        self._bytes += size
        return True

    def leave(self, size: int) -> None:
        """One that had entered with ``size`` bytes is gone."""
        self._requests -= 1
        self._bytes -= size
