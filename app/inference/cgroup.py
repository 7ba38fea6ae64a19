"""Where the control groups above this process keep their limits, versions 1 and 2.

Linux kernel, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1. Limits nest: who asks takes the least of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

ROOT: Final = Path("/")
"""Where ``proc`` and ``sys`` are found; a test puts a tree of its own there."""

_GROUPS: Final = Path("sys/fs/cgroup")


def groups_v2(root: Path = ROOT) -> Iterator[Path]:
    """Folders of the process's group and of those above it, in the one tree of version 2."""
    for controllers, group in _memberships(root):
        if not controllers:
            yield from _upwards(root / _GROUPS, group)


def groups_v1(controller: str, trees: Sequence[str], root: Path = ROOT) -> Iterator[Path]:
    """The same of version 1, in the tree of ``controller``, which is mounted under one of the names ``trees``."""
    for controllers, group in _memberships(root):
        if controller in controllers.split(","):
            for tree in trees:
                yield from _upwards(root / _GROUPS / tree, group)


def _memberships(root: Path) -> Iterator[tuple[str, str]]:
    # "4:cpu,cpuacct:/group" for version 1, "0::/group" for version 2.
    for line in read_text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        yield controllers, group


def _upwards(tree: Path, group: str) -> Iterator[Path]:
    # Inside a container the path may be the host's and its folders absent here; the mount's root is then ours.
    parts = PurePosixPath(group.strip()).parts[1:]
    for length in range(len(parts), -1, -1):
        yield tree.joinpath(*parts[:length])


def read_text(path: Path) -> str:
    """What is in the file, or nothing where it cannot be read."""
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
