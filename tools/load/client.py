"""One request and what came back of it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from yarl import URL

ANSWER_LIMIT: Final = 180.0
"""Seconds after which an answer counts as lost. Three times the service's own deadline."""

_PICTURE: Final = {"Content-Type": "application/octet-stream", "Accept": "*/*"}


@dataclass(frozen=True, slots=True)
class Reply:
    """status: 0 where no whole answer came; ``error`` then says why. code: of a problem document.

    start, end: monotonic seconds. digest: SHA-256 of the body. headers: lower-case names.
    """

    status: int
    start: float
    end: float
    code: str = ""
    digest: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def seconds(self) -> float:
        """From the first byte sent to the last received."""
        return self.end - self.start

    @property
    def refused(self) -> bool:
        """Whether it was turned away in due form: 503 with the time to come back."""
        return self.status == 503 and self.code == "overloaded" and self.headers.get("retry-after", "").isdigit()


@asynccontextmanager
async def visitors() -> AsyncIterator[aiohttp.ClientSession]:
    """A session in which every request is a connection of its own, as requests of different people are."""
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    timeout = aiohttp.ClientTimeout(total=ANSWER_LIMIT)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        yield session


async def convert(
    session: aiohttp.ClientSession, service: URL, photo: bytes, query: Mapping[str, str], headers: Mapping[str, str]
) -> Reply:
    """Send ``photo`` to be converted. Never raises for what the service or the connection does."""
    start = time.monotonic()
    url = service.joinpath("convert").with_query(query)
    try:
        async with session.post(url, data=photo, headers={**_PICTURE, **headers}) as response:
            body = await response.read()
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        return Reply(0, start, time.monotonic(), error=f"{type(error).__name__}: {error}")
    end = time.monotonic()
    named = {name.lower(): value for name, value in response.headers.items()}
    code = _code(body) if response.content_type == "application/problem+json" else ""
    return Reply(response.status, start, end, code, hashlib.sha256(body).hexdigest(), named)


def _code(body: bytes) -> str:
    try:
        return str(json.loads(body)["code"])
    except (ValueError, KeyError, TypeError):
        return "no problem document"
