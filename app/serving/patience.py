"""How long a client is waited for, in seconds, at each point of a request."""

from __future__ import annotations

from dataclasses import dataclass

from app.serving.arrival import Arrival


@dataclass(frozen=True, slots=True)
class Patience:
    """The bounds. Those for heads and bodies are of the kind that Apache's RequestReadTimeout sets by default."""

    head: float = 20.0
    """From a connection's opening to the first byte, and from there to the end of the head."""
    body: float = 20.0
    """For the body, whatever its size ..."""
    least_rate: float = 4096.0
    """... and a second more for each so many bytes of it that have come: who sends more slowly is given up."""
    keep_alive: float = 15.0
    """For the next request on the same connection."""
    send: int = 30
    """While a client takes no byte of its answer."""
    linger_idle: float = 5.0
    """A connection that the server has closed goes on being read, so that a client that is still sending comes to read
    its answer instead of a reset (RFC 9112 section 9.6): this long without a byte, ..."""
    linger: float = 30.0
    """... and this long at most."""
    stop: float = 2.0
    """For idle connections once the server has been told to stop."""

    def until_whole(self, arrival: Arrival) -> float:
        """How long after its first byte the rest of a request must be there, by what is there of it."""
        if arrival.head is None:
            return self.head
        return self.head + self.body + arrival.body_received / self.least_rate
