"""A real redis-server on a free loopback port, which keeps nothing on disk.

with redis_server() as redis:
    store = RedisStore(redis.url)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest
import redis

START_LIMIT = 30.0


class RedisServer:
    """It can be frozen, stopped and started again at the same port."""

    def __init__(self) -> None:
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Returns when it accepts connections. The first start picks the port."""
        tries = 1 if self.port else 5
        for _ in range(tries):
            port = self.port or _free_port()
            self._process = _launch(port)
            if _is_ready(self._process):
                self.port = port
                return
            self.stop()
        pytest.fail("redis-server did not start")

    def freeze(self) -> None:
        """Connections are made still, and nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def keys(self) -> int:
        """How many it holds."""
        with redis.Redis.from_url(self.url) as client:
            return int(client.dbsize())

    def wait_for_keys(self, count: int) -> None:
        """Block until it holds so many: who writes to it does not say when that is done."""
        end = time.monotonic() + START_LIMIT
        while self.keys() < count:
            assert time.monotonic() < end, f"{self.keys()} keys instead of {count}"
            time.sleep(0.01)

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None


@contextlib.contextmanager
def redis_server() -> Iterator[RedisServer]:
    """A running one, gone at the end of the block."""
    server = RedisServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _launch(port: int) -> subprocess.Popen[str]:
    program = shutil.which("redis-server")
    assert program, "redis-server is missing; scripts/test installs it, or names it where it may not"
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=os.sep)


def _is_ready(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return any("Ready to accept connections" in line for line in process.stdout)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
