"""Which service may be asked, and what is seen of its processes."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys

import pytest

from app.config import Settings
from tools.command import ToolError
from tools.load.target import SERVICES, running
from tools.load.watch import children, listener, memory_watched, resident_mib


@pytest.mark.parametrize("address", ["http://192.0.2.1:8000", "http://example.org", "https://8.8.8.8/", "nonsense"])
def test_another_machine_is_never_asked(address: str) -> None:
    with pytest.raises(ToolError, match="not this machine"):
        running(address)


def test_a_service_that_does_not_answer_is_told_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ToolError, match="no AnimeBooth that answers"):
        running(f"http://127.0.0.1:{port}")


def test_the_settings_of_the_services_compared_exist() -> None:
    for settings in SERVICES.values():
        Settings.from_environment(settings)


def test_the_process_behind_a_port_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert listener(server.getsockname()[1]) == os.getpid()
        port = server.getsockname()[1]
    assert listener(port) is None


def test_children_and_their_memory_are_seen_and_those_gone_take_none() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in children(os.getpid())
        assert resident_mib(os.getpid()) > 10
        child.communicate()
    assert resident_mib(child.pid) == 0.0
    assert children(child.pid) == []


def test_memory_is_watched_from_before_to_after() -> None:
    sizes = iter([[], [os.getpid()]])

    async def watch() -> list[float]:
        async with memory_watched(lambda: next(sizes, [])) as seen:
            pass
        return seen

    before, after = asyncio.run(watch())
    assert before == 0.0
    assert after > 10
