"""Each hostile act against a server that says what it got."""

from __future__ import annotations

import asyncio
import random

import pytest

from tools.soaking import hostile
from tools.soaking.hostile import ACTS, Act

PHOTO = bytes(range(256)) * 40


async def played(act: Act, answer: bytes = b"") -> tuple[int, bytes]:
    """(what the act returned, what the server had received when it was over)."""
    received = bytearray()
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        try:
            while data := await reader.read(1 << 16):
                received.extend(data)
        except ConnectionError:
            pass
        writer.close()
        over.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        status = await act(port, PHOTO, random.Random(1))
        await asyncio.wait_for(over.wait(), 30)
    return status, bytes(received)


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "DRIP_SECONDS", 0.001)
    monkeypatch.setattr(hostile, "_PATIENCE", 0.2)


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_every_act_ends_by_itself_where_nobody_answers(act: Act) -> None:
    status, _ = asyncio.run(played(act))
    assert status == 0


@pytest.mark.parametrize("act", [hostile.talk_nonsense, hostile.send_too_much, hostile.say_nothing])
def test_the_status_of_an_answer_is_read(act: Act) -> None:
    status, _ = asyncio.run(played(act, b"HTTP/1.1 413 Content Too Large\r\n\r\n"))
    assert status == 413


def test_an_aborted_upload_is_a_part_of_it() -> None:
    _, received = asyncio.run(played(hostile.abort_upload))
    assert len(received) < len(PHOTO)


def test_a_slow_loris_sends_a_few_bytes_and_no_whole_request() -> None:
    _, head = asyncio.run(played(hostile.drip_head))
    _, body = asyncio.run(played(hostile.drip_body))
    assert b"\r\n\r\n" not in head
    assert 0 < len(body.partition(b"\r\n\r\n")[2]) < len(PHOTO)
