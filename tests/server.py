"""A real gunicorn on a free loopback port, for tests that must see the whole service at work.

with serve() as server:
    answer = server.post("/convert", body=data, headers={"Content-Type": "image/jpeg"})
    assert answer.status == 200
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PROJECT_ROOT = Path(__file__).resolve().parent.parent
START_LIMIT = 120.0
"""Seconds a start may take before a test gives up: generous, for slow machines; a good start takes far less."""

_LISTENING = re.compile(r"Listening at: http://[^:]+:(\d+)")
# What a developer has set for their own server must not steer the tests.
_STEERING = re.compile(r"ANIMEBOOTH_|GUNICORN_|PORT$|WEB_CONCURRENCY$|SCRIPT_NAME$|FORWARDED_ALLOW_IPS$")

_STEADY = {"ANIMEBOOTH_SLOW_SECONDS": "0"}
"""Every start, on every machine, draws with the same networks."""


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; header names are in lower case, a repeated header keeps its last value."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class Server:
    """A running gunicorn. What it prints is kept in ``output``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: list[str] = []
        self._all_read = False
        self._news = threading.Condition()
        assert process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            with self._news:
                self._lines.append(line)
                self._news.notify_all()
        with self._news:
            self._all_read = True
            self._news.notify_all()

    @property
    def output(self) -> str:
        """Everything printed so far, both streams."""
        with self._news:
            return "".join(self._lines)

    def wait_for_output(self, pattern: str | re.Pattern[str], limit: float = START_LIMIT) -> re.Match[str]:
        """Block until the output matches ``pattern``; fail when the process ends first or ``limit`` seconds pass."""

        def seen() -> re.Match[str] | None:
            return re.search(pattern, "".join(self._lines))

        with self._news:
            self._news.wait_for(lambda: seen() or self._all_read, timeout=limit)
            match = seen()
        assert match, f"never printed {pattern!r}; it printed:\n{self.output}"
        return match

    def wait_for_end(self, limit: float = START_LIMIT) -> int:
        """Block until the process has ended and everything it printed is read; return its exit status."""
        status = self.process.wait(limit)
        self._reader.join(limit)
        return status

    @property
    def port(self) -> int:
        return int(self.wait_for_output(_LISTENING).group(1))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        limit: float = START_LIMIT,
    ) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=limit)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=dict(headers or {}))
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, named, response.read())

    def get(self, path: str, *, headers: Mapping[str, str] | None = None) -> Answer:
        return self.request("GET", path, headers=headers)

    def post(self, path: str, *, body: bytes, headers: Mapping[str, str] | None = None) -> Answer:
        return self.request("POST", path, body=body, headers=headers)

    def wait_until_ready(self, limit: float = START_LIMIT) -> None:
        """Ask /readyz until it says 200."""
        end = time.monotonic() + limit
        while (answer := self.get("/readyz")).status != 200:
            assert self.process.poll() is None, f"ended while starting; it printed:\n{self.output}"
            assert time.monotonic() < end, f"not ready after {limit} s: {answer.text}\n{self.output}"
            time.sleep(0.05)

    def workers(self) -> list[int]:
        """Process ids of the workers, oldest first."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return sorted(int(child) for child in children.split())

    def stop(self, limit: float = 60.0) -> int:
        """Ask for a graceful end (SIGTERM) and wait for it; kill what does not end. Returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.wait_for_end(limit)
        finally:
            self._kill()

    def _kill(self) -> None:
        # The process leads a group of its own, so that no worker outlives a failed test.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start(
    *arguments: str,
    application: str | None = None,
    environment: Mapping[str, str] | None = None,
    bind: str | None = "127.0.0.1:0",
) -> Server:
    """Start gunicorn with the project's configuration and return at once; the caller stops it.

    ``arguments`` are further gunicorn arguments, ``application`` replaces the project's own (``module:name``),
    ``environment`` is added to a cleaned copy of ours. ``bind=None`` leaves the address to the configuration.
    """
    inherited = {name: value for name, value in os.environ.items() if not _STEERING.match(name)}
    command = [sys.executable, "-m", "gunicorn", "--config", str(PROJECT_ROOT / "gunicorn.conf.py")]
    command += ["--bind", bind] if bind else []
    command += [*arguments, application or "wsgi:app"]
    process = subprocess.Popen(
        command,
        cwd=PROJECT_ROOT,
        env={**inherited, "PYTHONUNBUFFERED": "1", **_STEADY, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    return Server(process)


@contextlib.contextmanager
def serve(
    *arguments: str,
    application: str | None = None,
    environment: Mapping[str, str] | None = None,
    bind: str | None = "127.0.0.1:0",
    listening: bool = True,
    ready: bool = True,
) -> Iterator[Server]:
    """As ``start``, stopped at the end of the block.

    The block begins once the service is ready (/readyz says 200), with ``ready=False`` once it listens, and with
    ``listening=False`` at once: for starts that must fail.
    """
    server = start(*arguments, application=application, environment=environment, bind=bind)
    try:
        if listening:
            server.wait_for_output(_LISTENING)
        if listening and ready:
            server.wait_until_ready()
        yield server
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.stop()
        if server.process.stdout:
            server.process.stdout.close()
