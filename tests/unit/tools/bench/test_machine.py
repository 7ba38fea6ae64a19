"""The machine in words."""

from __future__ import annotations

import getpass
import socket
from pathlib import Path

from tools.bench.machine import describe_machine


def test_a_board_names_itself_and_its_memory(tmp_path: Path) -> None:
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/model").write_bytes(b"Raspberry Pi 5 Model B Rev 1.0\0")
    (tmp_path / "proc/meminfo").write_text("MemTotal:        8245248 kB\nMemFree: 1 kB\n")
    machine = describe_machine(tmp_path)
    assert machine["machine"] == "Raspberry Pi 5 Model B Rev 1.0"
    assert machine["memory"] == "7.9 GiB"


def test_what_is_not_told_is_unknown(tmp_path: Path) -> None:
    assert describe_machine(tmp_path)["memory"] == "unknown"


def test_nothing_tells_whose_it_is() -> None:
    told = " ".join(describe_machine().values())
    assert socket.gethostname() not in told
    assert getpass.getuser() not in told.split()
