"""One client's connection: what has arrived of its request, and what gunicorn's parser is given of it."""

from __future__ import annotations

import socket
import time
from typing import Final, TypeAlias, cast

from gunicorn import http
from gunicorn.config import Config
from gunicorn.workers.gthread import TConn

from app.serving.arrival import Arrival

Address: TypeAlias = str | tuple[str, int]
"""As ``socket.accept`` gives it: of a Unix socket, or host and port."""

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class ArrivedBytes:
    """Stands in for the socket before gunicorn's parser: holds what has arrived, and then says "end", never "wait".

    So no thread of the pool ever waits for a client to send.
    """

    def __init__(self) -> None:
        self._bytes = memoryview(b"")

    def hold(self, data: bytearray) -> None:
        """From now on these bytes are read, those of the last request no more."""
        self._bytes = memoryview(data)

    def recv(self, size: int) -> bytes:
        """The next ``size`` bytes at most; b"" at the end, as a socket says it."""
        piece = bytes(self._bytes[:size])
        # What has been read is let go of: a request may wait long for its turn, and its picture is elsewhere by then.
        self._bytes = self._bytes[size:] if len(piece) < len(self._bytes) else memoryview(b"")
        return piece


class Connection(TConn):
    """A connection whose requests are read by the worker's one poller, and answered by a thread once they are here.

    ``expires`` (monotonic seconds) is when the poller gives up waiting for the client. ``upload`` is the number of
    bytes the request was admitted with, None while nothing is. ``arrived`` (monotonic seconds) is when the request was
    all here. ``overloaded`` asks the application for its "too many requests" answer. ``final`` says that nothing may
    follow this request on this connection.
    """

    def __init__(
        self, config: Config, client: socket.socket, address: Address, server: Address, *, max_body: int
    ) -> None:
        super().__init__(config, client, address, server)
        self._max_body = max_body
        self._source = ArrivedBytes()
        self.arrival = Arrival(max_body)
        self._rest = bytearray()
        self.parser = http.get_parser(config, cast(socket.socket, self._source), address)
        self.data_ready = True
        self.upload: int | None = None
        self.expires = self.since = self.arrived = time.monotonic()
        self.overloaded = self.final = self.stuck = False

    def allow_continue(self) -> None:
        """Send the "100 Continue" that a client with a large body may be waiting for (RFC 9110 section 10.1.1)."""
        head = self.arrival.head
        if head and head.expects_continue and not self.arrival.complete:
            self.sock.send(_CONTINUE)

    def hand_over(self) -> None:
        """The request goes to the parser; what came behind it stays for the next."""
        self.final = not self.arrival.whole
        request, self._rest = self.arrival.split()
        self._source.hold(request)
        self.arrived = time.monotonic()

    def next_request(self) -> None:
        """Forget the request that has been answered and look at what came behind it."""
        self._source.hold(bytearray())
        self.arrival = Arrival(self._max_body, self._rest)
        self.overloaded = False

    def hung_up(self) -> bool:
        """Whether the client has closed the connection while it was waiting. From any thread, while it is answered."""
        try:
            return not self.sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True
