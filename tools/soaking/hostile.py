"""Visitors who mean no good, over plain sockets. Each act ends by itself and returns the status it was given, or 0."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeAlias

Act: TypeAlias = Callable[[int, bytes, random.Random], Awaitable[int]]
"""(port, a photo, chance) -> status of the answer, 0 for none."""

DRIP_SECONDS: Final = 1.0
MOST_DRIPS: Final = 45
_PATIENCE: Final = 60.0
_HEAD: Final = b"POST /convert HTTP/1.1\r\nHost: soak\r\nContent-Type: application/octet-stream\r\n"


@contextlib.asynccontextmanager
async def _connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def _status(reader: asyncio.StreamReader) -> int:
    """The status of what comes back; 0 where nothing does, or no HTTP."""
    with contextlib.suppress(TimeoutError, OSError):
        line = await asyncio.wait_for(reader.readline(), _PATIENCE)
        words = line.split()
        if len(words) > 1 and line.startswith(b"HTTP/1.1 ") and words[1].isdigit():
            return int(words[1])
    return 0


def _request(photo: bytes) -> bytes:
    return _HEAD + b"Content-Length: %d\r\n\r\n" % len(photo) + photo


async def drip_head(port: int, photo: bytes, chance: random.Random) -> int:
    """Slow loris: a byte of the head at a time."""
    async with _connected(port) as (reader, writer):
        for byte in (_HEAD * 3)[:MOST_DRIPS]:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(DRIP_SECONDS)
        return await _status(reader)


async def drip_body(port: int, photo: bytes, chance: random.Random) -> int:
    """Slow loris: a few bytes of the body at a time."""
    async with _connected(port) as (reader, writer):
        writer.write(_HEAD + b"Content-Length: %d\r\n\r\n" % len(photo))
        for number in range(MOST_DRIPS):
            writer.write(photo[number * 4 : number * 4 + 4])
            await writer.drain()
            await asyncio.sleep(DRIP_SECONDS)
        return await _status(reader)


async def abort_upload(port: int, photo: bytes, chance: random.Random) -> int:
    """Gone in the middle of the upload: by a reset, half of the time."""
    async with _connected(port) as (_, writer):
        writer.write(_request(photo)[: chance.randrange(1, len(photo))])
        await writer.drain()
        _reset_on_close(writer, chance.random() < 0.5)
    return 0


async def leave_before_answer(port: int, photo: bytes, chance: random.Random) -> int:
    """Everything is sent, and nobody stays for the answer."""
    async with _connected(port) as (_, writer):
        writer.write(_request(photo))
        await writer.drain()
        await asyncio.sleep(chance.uniform(0, 0.3))
        _reset_on_close(writer, chance.random() < 0.5)
    return 0


async def stay_deaf(port: int, photo: bytes, chance: random.Random) -> int:
    """Many orders in one go, and no answer is ever read."""
    async with _connected(port) as (reader, writer):
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        with contextlib.suppress(TimeoutError):
            for _ in range(3):
                writer.write(_request(photo))
                await asyncio.wait_for(writer.drain(), DRIP_SECONDS * 10)
        await asyncio.sleep(DRIP_SECONDS * 20)
    return 0


async def talk_nonsense(port: int, photo: bytes, chance: random.Random) -> int:
    """No HTTP at all."""
    async with _connected(port) as (reader, writer):
        writer.write(chance.randbytes(chance.randrange(1, 3000)) + b"\r\n\r\n")
        await writer.drain()
        return await _status(reader)


async def break_chunks(port: int, photo: bytes, chance: random.Random) -> int:
    """A chunked body whose sizes are none."""
    async with _connected(port) as (reader, writer):
        writer.write(_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + photo[:100] + b"\r\n0\r\n\r\n")
        await writer.drain()
        return await _status(reader)


async def contradict(port: int, photo: bytes, chance: random.Random) -> int:
    """Two ends of one body, and a request hidden behind the nearer (RFC 9112 section 11.2)."""
    async with _connected(port) as (reader, writer):
        hidden = b"0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: soak\r\n\r\n"
        writer.write(_HEAD + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n" % len(hidden) + hidden)
        await writer.drain()
        return await _status(reader)


async def send_too_much(port: int, photo: bytes, chance: random.Random) -> int:
    """More than an upload may have."""
    async with _connected(port) as (reader, writer):
        size = 20 << 20
        writer.write(_HEAD + b"Content-Length: %d\r\n\r\n" % size)
        with contextlib.suppress(OSError):
            for _ in range(size >> 16):
                writer.write(bytes(1 << 16))
                await writer.drain()
        return await _status(reader)


async def say_nothing(port: int, photo: bytes, chance: random.Random) -> int:
    """A connection and not one byte."""
    async with _connected(port) as (reader, _):
        return await _status(reader)


def _reset_on_close(writer: asyncio.StreamWriter, reset: bool) -> None:
    if reset:
        # Lingering for no time: closing sends a reset and drops what is unsent (socket(7)).
        connection: socket.socket = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


ACTS: Final[tuple[Act, ...]] = (
    *(drip_head, drip_body, abort_upload, abort_upload, leave_before_answer, leave_before_answer, stay_deaf),
    *(talk_nonsense, break_chunks, contradict, send_too_much, say_nothing),
)
