"""The service that is asked: one that runs already on this machine, or one started for the purpose."""

from __future__ import annotations

import ipaddress
import json
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from yarl import URL

# A service is started exactly as the integration tests start it.
from tests.server import serve
from tools.command import ToolError
from tools.load.watch import children, listener

SERVICES: Final[Mapping[str, Mapping[str, str]]] = {
    "as it is": {},
    "plain": {
        "ANIMEBOOTH_CACHE_MIB": "0",
        "ANIMEBOOTH_BATCH": "1",
        "ANIMEBOOTH_CONCURRENCY": "64",
        "ANIMEBOOTH_MAX_REQUESTS": "2000",
        "ANIMEBOOTH_DEADLINE": "3600",
        "ANIMEBOOTH_MEMORY_MIB": "1000000",
    },
}
"""The service by default, and the same without what is there for many people at once: nothing is remembered, nothing
is drawn together, nobody is turned away however long it takes, and 64 are worked on at once, whatever they cost; the
rest waits in line, since a machine has no memory for all of them."""

_ANSWER_LIMIT: Final = 10.0


@dataclass(frozen=True)
class Target:
    """url: of the service. styles: those that can be asked for. deadline: seconds it gives itself for a request.

    processes: the ids of its processes as they are now; none where they cannot be seen.
    """

    url: URL
    styles: tuple[str, ...]
    deadline: float
    processes: Callable[[], list[int]]


@contextmanager
def started(settings: Mapping[str, str]) -> Iterator[Target]:
    """A service of our own, started with ``settings`` (environment variables) on a free port, and stopped again."""
    with serve(environment={"ANIMEBOOTH_RATE_LIMIT": "", **settings}) as server:
        yield _described(URL(server.url), lambda: [server.process.pid, *server.workers()])


def running(address: str) -> Target:
    """The service at ``address``. Raises ToolError where it is not on this machine, or does not answer."""
    url = URL(address)
    if not _is_here(url):
        raise ToolError(f"{address} is not this machine: load is for http://127.0.0.1:PORT alone.")
    master = listener(url.port or 80)
    return _described(url, lambda: [master, *children(master)] if master else [])


def _is_here(url: URL) -> bool:
    try:
        return url.host == "localhost" or ipaddress.ip_address(url.host or "").is_loopback
    except ValueError:
        return False


def _described(url: URL, processes: Callable[[], list[int]]) -> Target:
    try:
        with urllib.request.urlopen(str(url.joinpath("styles")), timeout=_ANSWER_LIMIT) as answer:  # noqa: S310
            catalogue: dict[str, Any] = json.load(answer)
    except (OSError, ValueError) as error:
        raise ToolError(f"{url} is no AnimeBooth that answers: {error}.") from error
    # Not every photo has a face to make a portrait of.
    usable = tuple(s["id"] for s in catalogue["styles"] if s["state"] != "unavailable" and s["face"] != "only")
    return Target(url, usable, float(catalogue["limits"]["deadline"]), processes)
