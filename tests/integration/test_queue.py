"""Large pictures and small ones, and people who leave, at the whole service with the built-in networks."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from app.config import PROJECT_ROOT
from tests.server import Server, serve

SMALL = (PROJECT_ROOT / "tests/cases/inputs/odd_33x47.png").read_bytes()
LIMIT = 60.0
"""Seconds after which something that must happen has not."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(environment={"ANIMEBOOTH_CACHE_MIB": "0"}) as shared:
        shared.wait_until_ready()
        yield shared


def large() -> bytes:
    """Six megapixels: a dozen tiles, seconds of work."""
    file = BytesIO()
    Image.fromarray(np.zeros((2000, 3000, 3), np.uint8)).save(file, "JPEG")
    return file.getvalue()


@contextlib.contextmanager
def sent(server: Server, picture: bytes, name: str, query: str = "") -> Iterator[socket.socket]:
    """A picture on its way, by that name; whoever sent it leaves at the end of the block."""
    head = (
        f"POST /convert?face=off{query} HTTP/1.1\r\nHost: a\r\nX-Request-Id: {name}\r\nContent-Length: {len(picture)}"
    )
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT)) as client:
        client.sendall(head.encode() + b"\r\n\r\n" + picture)
        yield client


def state(server: Server, name: str) -> str | None:
    place = json.loads(server.get(f"/queue?id={name}").text)["request"]
    return place and place["state"]


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def gone_so_far(server: Server) -> float:
    told = server.get("/metrics").text
    found = re.search(r'^animebooth_rejected_total\{reason="client-gone"\} (\S+)', told, re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_a_small_picture_is_answered_while_a_large_one_is_drawn_and_who_leaves_is_drawn_for_no_more(
    server: Server,
) -> None:
    before = gone_so_far(server)
    with sent(server, large(), "large", "&size=original"):
        eventually(lambda: state(server, "large") == "working")
        assert server.post("/convert?face=off", body=SMALL).status == 200
        assert state(server, "large") == "working"
    eventually(lambda: state(server, "large") is None)
    # A tile is finished, not the picture: that would be answered, not counted as left.
    eventually(lambda: gone_so_far(server) == before + 1)
    assert json.loads(server.get("/queue").text)["working"] == 0


def test_who_leaves_while_another_large_one_is_drawn_is_never_begun(server: Server) -> None:
    before = gone_so_far(server)
    with sent(server, large(), "first", "&size=original"):
        eventually(lambda: state(server, "first") == "working")
        with sent(server, large(), "second", "&size=original"):
            eventually(lambda: state(server, "second") == "waiting")
        # Whoever comes next, the queue is looked through.
        assert server.post("/convert?face=off", body=SMALL).status == 200
        eventually(lambda: state(server, "second") is None)
        assert state(server, "first") == "working"
    eventually(lambda: gone_so_far(server) == before + 2)
