"""What the service's processes take of the machine while others work on it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

EVERY_SECONDS: Final = 0.5


def resident_mib(process: int) -> float:
    """Memory of one process in MiB; 0 where it has gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return 0.0


def children(process: int) -> list[int]:
    """Process ids of the children of one, oldest first; none where it has gone."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
        return sorted(int(child) for child in text.split())
    return []


def listener(port: int) -> int | None:
    """The process, the oldest of them, that listens at ``port`` of this machine, where it may be seen."""
    sockets = set(_listening_sockets(port))
    found = [
        int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit() and _holds(folder, sockets)
    ]
    return min(found, default=None)


def _listening_sockets(port: int) -> Iterator[str]:
    # proc(5), net/tcp: the local address, a state (0A: listening) and the socket's inode are fields 2, 4 and 10.
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    yield f"socket:[{fields[9]}]"


def _holds(folder: Path, sockets: set[str]) -> bool:
    with contextlib.suppress(OSError):
        return any(str(link.readlink()) in sockets for link in (folder / "fd").iterdir())
    return False


@contextlib.asynccontextmanager
async def memory_watched(processes: Callable[[], Sequence[int]]) -> AsyncIterator[list[float]]:
    """A list that grows by the MiB of all ``processes`` together while the block runs."""
    seen = [_total(processes())]

    async def watch() -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            seen.append(_total(processes()))

    watcher = asyncio.create_task(watch())
    try:
        yield seen
    finally:
        watcher.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watcher
        seen.append(_total(processes()))


def _total(processes: Sequence[int]) -> float:
    return sum(map(resident_mib, processes))
