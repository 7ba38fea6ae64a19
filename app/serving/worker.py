"""gunicorn's threaded worker, with the waiting for clients taken out of its threads.

The stock worker gives each connection to a thread, which then waits for the client's bytes: eight slow phones, and
nobody else is served. Requests beyond the eighth wait in a queue without a bound that the application cannot see, and
a connection that is closed with care stops the whole worker for up to two seconds. Here one poller reads every
request; only a request that is all here costs a thread. Uploads are counted, and above the limit the application is
asked, in a thread of its own, to say so. Requests without a body (the page, /healthz) never queue behind uploads.

environ keys for the application: ``animebooth.arrived``, monotonic seconds at which the request was all here;
``animebooth.overloaded``, True where it is to be refused with 503 (its body has not been read); ``animebooth.gone``, a
function that tells whether the client has closed the connection, to be called while the request is being answered.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import secrets
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from selectors import EVENT_READ
from types import FrameType
from typing import Any, ClassVar, Final

from gunicorn.arbiter import Arbiter
from gunicorn.config import Config
from gunicorn.http.errors import LimitRequestHeaders, ParseException
from gunicorn.http.message import Request
from gunicorn.workers.gthread import ThreadWorker

from app.errors import AnimeBoothError, BadRequest, InternalError
from app.serving.admission import Admission
from app.serving.connection import Connection
from app.serving.patience import Patience
from app.serving.refusal import refusal
from app.telemetry.observer import UNOBSERVED, Observer

LIGHT_THREADS: Final = 2
"""Threads for requests without a body: enough for pages and probes, which take milliseconds."""

LINGER_STEP: Final = 64 * 1024
"""Bytes read at once of what nobody wants any more."""

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Worker(ThreadWorker):
    """See the module. ``limit`` sets the bounds; without it they are those of the constructor.

    Every connection is a Connection, which the stubs of gunicorn cannot know: hence the ignored overrides.
    """

    patience: ClassVar = Patience()
    observer: Observer = UNOBSERVED
    """Told of the requests that the application never sees."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._polled: set[Connection] = set()
        self._current = threading.local()
        self._failure: str | None = None
        self._stop_by: float | None = None
        self.limit(max_requests=64, max_body=16 * 1024 * 1024, max_bytes=256 * 1024 * 1024)

    @classmethod
    def check_config(cls, cfg: Config, log: Any) -> None:
        """Refuse the settings under which the poller could not read requests. Raises RuntimeError."""
        if cfg.is_ssl or cfg.proxy_protocol != "off" or cfg.protocol != "http":
            raise RuntimeError("This worker speaks plain HTTP only. Put a reverse proxy in front for anything else.")

    def limit(self, *, max_requests: int, max_body: int, max_bytes: int) -> None:
        """Let in at most ``max_requests`` uploads, of ``max_body`` bytes each and ``max_bytes`` together."""
        self._admission = Admission(max_requests, max_bytes)
        self._max_body = max_body

    def give_up(self, reason: str) -> None:
        """End the whole service, from any thread: it will never be able to answer, and ``reason`` says why."""
        self._failure = reason
        self.alive = False
        self.method_queue.defer(lambda: None)

    # --- the process ---

    def init_process(self) -> None:
        """Runs in the worker's process until it ends."""
        self._light = ThreadPoolExecutor(LIGHT_THREADS, thread_name_prefix="light")
        super().init_process()

    def init_signals(self) -> None:
        """SIGUSR1 prints what every thread is at, to standard error, and then does what it does in gunicorn."""
        super().init_signals()
        # At once and without Python's help: the process may be stuck in anything.
        faulthandler.register(signal.SIGUSR1, all_threads=True, chain=True)

    def handle_usr1(self, number: int, frame: FrameType | None) -> None:
        """Opens log files anew, as gunicorn has it, and says whose stacks they were."""
        super().handle_usr1(number, frame)
        self.log.info("SIGUSR1: above is what the threads of process %s were at.", os.getpid())

    def load_wsgi(self) -> None:
        """Load the application and tell it, with each request, what this worker knows of it."""
        super().load_wsgi()
        self.wsgi = partial(self._with_arrival, self.wsgi)

    def _with_arrival(
        self, application: WsgiApp, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        connection: Connection = self._current.connection
        environ["animebooth.arrived"] = connection.arrived
        environ["animebooth.overloaded"] = connection.overloaded
        environ["animebooth.gone"] = connection.hung_up
        return application(environ, start_response)

    def run(self) -> None:
        """The poller's loop, until told to stop."""
        super().run()
        self._light.shutdown(wait=False)
        if self._failure is not None:
            self.log.critical(self._failure)
            # The one status at which gunicorn ends as well, instead of starting worker after worker.
            sys.exit(Arbiter.APP_LOAD_ERROR)

    # --- the poller's thread ---

    def accept(self, listener: socket.socket) -> None:
        """A new client."""
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        self.nr_conns += 1
        self._limit_sending(client)
        connection = Connection(self.cfg, client, address, listener.getsockname(), max_body=self._max_body)
        connection.expires = connection.since + self.patience.head
        self._poll(connection, self._on_arriving)

    def _limit_sending(self, client: socket.socket) -> None:
        # Threads send on a blocking socket. A Python timeout would count for the whole of the answer; the kernel's
        # begins anew with each byte taken.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", self.patience.send, 0))

    def _poll(self, connection: Connection, callback: Callable[[Connection, socket.socket], None]) -> None:
        connection.sock.setblocking(False)
        self._polled.add(connection)
        self.poller.register(connection.sock, EVENT_READ, partial(callback, connection))

    def _unpoll(self, connection: Connection) -> None:
        self._polled.discard(connection)
        self.poller.unregister(connection.sock)

    def _drop(self, connection: Connection) -> None:
        if connection in self._polled:
            self._unpoll(connection)
        self._leave(connection)
        self.nr_conns -= 1
        connection.close()

    def _leave(self, connection: Connection) -> None:
        if connection.upload is not None:
            self._admission.leave(connection.upload)
            connection.upload = None

    def _on_arriving(self, connection: Connection, client: socket.socket) -> None:
        data = self._received(connection, client, connection.arrival.wanted)
        if not data:
            return
        if not connection.arrival.started:
            connection.since = time.monotonic()
        connection.arrival.feed(data)
        self._advance(connection)

    def _received(self, connection: Connection, client: socket.socket, size: int) -> bytes:
        """At most ``size`` bytes that the client has sent; b"" for none yet, or for a client now dropped."""
        try:
            data = client.recv(size)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._drop(connection)
        return data

    def _advance(self, connection: Connection) -> None:
        arrival = connection.arrival
        if arrival.has_body and connection.upload is None:
            self._admit(connection)
        if arrival.complete or connection.overloaded:
            self._unpoll(connection)
            self._start(connection)
        else:
            connection.expires = connection.since + self.patience.until_whole(arrival)

    def _admit(self, connection: Connection) -> None:
        room = connection.arrival.body_room
        if not self._admission.enter(room):
            connection.overloaded = True
            return
        connection.upload = room
        # A client that has gone is noticed by the next read.
        with contextlib.suppress(OSError):
            connection.allow_continue()

    def _start(self, connection: Connection) -> None:
        pool = self._light if connection.upload is None else self.tpool
        connection.hand_over()
        future = pool.submit(self.handle, connection)
        future.add_done_callback(partial(self.method_queue.defer, self.finish_request, connection))

    def finish_request(self, connection: Connection, future: Future[bool]) -> None:  # type: ignore[override]
        """A thread is through with a request."""
        self._leave(connection)
        reusable = not future.cancelled() and future.exception() is None and future.result()
        if connection.stuck:
            self._drop(connection)
        elif reusable:
            self._await_next(connection)
        else:
            self._linger(connection)

    def _await_next(self, connection: Connection) -> None:
        connection.since = time.monotonic()
        connection.expires = connection.since + self.patience.keep_alive
        connection.next_request()
        self._poll(connection, self._on_arriving)
        if connection.arrival.started:
            self._advance(connection)

    def _linger(self, connection: Connection) -> None:
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(connection)
            return
        connection.since = time.monotonic()
        connection.expires = connection.since + self.patience.linger_idle
        self._poll(connection, self._on_lingering)

    def _on_lingering(self, connection: Connection, client: socket.socket) -> None:
        if not self._received(connection, client, LINGER_STEP):
            return
        longest = connection.since + self.patience.linger
        connection.expires = min(time.monotonic() + self.patience.linger_idle, longest)

    def murder_pending(self) -> None:
        """Called by the loop at least once a second: give up on the clients whose time is over."""
        now = time.monotonic()
        if not self.alive and self._stop_by is None:
            self._stop_by = now + self.patience.stop
        for connection in list(self._polled):
            stop = self._stop_by if connection.upload is None else None
            if connection.expires <= now or (stop is not None and stop <= now):
                if connection.arrival.started:
                    self.observer.request_rejected("client-slow")
                self._drop(connection)

    # --- the threads ---

    def handle(self, connection: Connection) -> bool:  # type: ignore[override]
        """Answer one request; whether the connection may be used again."""
        if connection.upload is not None and connection.hung_up():
            self.observer.request_rejected("client-gone")
            return False
        if connection.arrival.head_too_long:
            # To gunicorn's parser it would look like a client that has gone, who gets no answer.
            self.handle_error(None, connection.sock, connection.client, LimitRequestHeaders("head too long"))
            return False
        return super().handle(connection)

    def handle_request(self, request: Request, connection: Connection) -> bool:  # type: ignore[override]
        """Run the application; whether the connection may be used again."""
        self._current.connection = connection
        # Already sent, when the upload was let in.
        request._expected_100_continue = False  # type: ignore[attr-defined]
        request.must_close = request.must_close or connection.final
        try:
            return super().handle_request(request, connection)
        except BlockingIOError:
            # The kernel's limit on sending: the client takes nothing of its answer.
            connection.stuck = True
            return False

    def handle_error(
        self, request: Request | None, client: socket.socket, address: object, error: BaseException
    ) -> None:
        """Answer what is no HTTP, or what the application itself failed on. No address of a client is logged."""
        told: AnimeBoothError = BadRequest()
        request_id = secrets.token_hex(16)
        if isinstance(error, ParseException):
            self.observer.request_rejected("malformed")
            self.log.debug("No good request: %s", type(error).__name__)
        else:
            told = InternalError()
            self.log.error("Request %s failed", request_id, exc_info=error)
        with contextlib.suppress(OSError):
            client.sendall(refusal(told, request_id))
