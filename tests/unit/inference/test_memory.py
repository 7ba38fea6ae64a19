"""Memory that may really be used, on made trees of /proc and /sys, and that which is."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from app.inference.memory import SHARE, memory_limit, resident_memory, usable_memory
from tests.unit.inference.test_cpu import tree

GIB = 1 << 30
HELD = 8 << 20
MACHINE = {"proc/meminfo": f"MemTotal:       {8 * GIB // 1024} kB\nMemFree:          1 kB\n"}


def v2(limit: str, group: str = "/", folder: str = "") -> dict[str, str]:
    return {"proc/self/cgroup": f"0::{group}\n", f"sys/fs/cgroup{folder}/memory.max": f"{limit}\n"}


def v1(limit: str, group: str = "/", folder: str = "") -> dict[str, str]:
    files = {"proc/self/cgroup": f"4:cpu,cpuacct:{group}\n11:memory:{group}\n"}
    return files | {f"sys/fs/cgroup/memory{folder}/memory.limit_in_bytes": f"{limit}\n"}


@pytest.mark.parametrize("files", [v2(str(GIB)), v1(str(GIB)), v1(str(GIB), "/docker/4f5d")])
def test_a_control_groups_limit_is_what_may_be_used(tmp_path: Path, files: dict[str, str]) -> None:
    assert usable_memory(tree(tmp_path, MACHINE | files)) == GIB


@pytest.mark.parametrize("files", [{}, v2("max"), v1("9223372036854771712"), v2("nonsense"), v2(str(16 * GIB))])
def test_without_a_limit_below_the_machines_memory_it_is_a_share_of_that(tmp_path: Path, files: dict[str, str]) -> None:
    assert usable_memory(tree(tmp_path, MACHINE | files)) == SHARE * 8 * GIB


def test_the_least_of_nested_groups_counts(tmp_path: Path) -> None:
    tree(tmp_path, v2(str(4 * GIB), "/pod/box", "/pod/box"))
    assert memory_limit(tree(tmp_path, {"sys/fs/cgroup/pod/memory.max": str(GIB)})) == GIB


def test_where_nothing_is_known_there_is_no_number(tmp_path: Path) -> None:
    assert usable_memory(tmp_path) is None
    assert resident_memory(tmp_path) == 0


def test_a_limit_counts_though_the_machine_is_not_known(tmp_path: Path) -> None:
    assert usable_memory(tree(tmp_path, v2(str(GIB)))) == GIB


def test_this_machine_has_memory_and_this_process_some_of_it() -> None:
    usable = usable_memory()
    assert usable is not None
    before = resident_memory()
    # A mapping of its own: an array might be laid into memory that was there before.
    with mmap.mmap(-1, HELD) as held:
        np.frombuffer(held, np.uint8)[:] = 1
        assert usable > resident_memory() >= before + 0.9 * HELD
