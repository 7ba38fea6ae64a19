"""The environment the tests run in is the one that the requirement files describe."""

from __future__ import annotations

import ast
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT

INSTALLED_APART = ("requirements-tools.txt", "tools/convert/tensorflow-requirements.txt")
"""What a few of the tools import and all else does without; not there where the service is tested."""

PINNED = ("requirements.txt", "requirements-traces.txt", "requirements-dev.txt")
"""What the tests run in: the service, what it can do besides, and what tests need. Each file builds on the last."""

_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)(?:; .+)?")


def canonical(name: str) -> str:
    """The one spelling of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lines(file: str) -> list[str]:
    """What a requirement file says, comments left out."""
    text = (PROJECT_ROOT / file).read_text(encoding="ascii").splitlines()
    return [line.strip() for line in text if line.strip() and not line.startswith("#")]


def pins(file: str) -> dict[str, str]:
    """Distribution to version."""
    matches = [_PIN.fullmatch(line) for line in lines(file) if not line.startswith("--requirement")]
    assert all(matches), f"{file}: every line must be NAME==VERSION"
    return {canonical(match[1]): match[2] for match in matches if match}


def installed() -> dict[str, str]:
    """Distribution to version, of all there are."""
    return {canonical(found.metadata["Name"]): found.version for found in metadata.distributions()}


def test_there_is_exactly_one_opencv() -> None:
    # All of them install the folder cv2, so that two overwrite each other's files.
    assert [name for name in installed() if name.startswith("opencv")] == ["opencv-contrib-python"]


@pytest.mark.parametrize("file", PINNED)
def test_what_is_installed_is_what_is_pinned(file: str) -> None:
    here = installed()
    assert {name: here.get(name) for name in pins(file)} == pins(file)


def test_no_pin_is_made_twice() -> None:
    assert len(set().union(*map(pins, PINNED))) == sum(len(pins(file)) for file in PINNED)
    for file in PINNED:
        assert len(pins(file)) == sum("==" in line for line in lines(file))


def test_every_requirement_of_a_pinned_package_is_pinned_too() -> None:
    """So that no installation depends on the day it is made."""
    pinned = {name for file in PINNED for name in pins(file)}
    for name in pinned:
        for requirement in metadata.requires(name) or ():
            needed, _, marker = requirement.partition(";")
            if not marker:
                assert canonical(re.match(r"[A-Za-z0-9._-]+", needed)[0]) in pinned, f"{name} needs {requirement}"


def imported(*folders: str) -> set[str]:
    """Top-level modules that the sources in ``folders`` import, Python's own and ours left out."""
    files = [path for folder in folders for path in (PROJECT_ROOT / folder).rglob("*.py")]
    names = {name.partition(".")[0] for path in files for name in _imports(path)}
    return {name for name in names - set(sys.stdlib_module_names) if not (PROJECT_ROOT / name).is_dir()}


def _imports(path: Path) -> list[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]


@pytest.mark.parametrize(
    ("folders", "files"),
    [(("app",), ("requirements.txt", "requirements-traces.txt")), (("tests", "tools"), PINNED)],
)
def test_what_is_imported_is_pinned(folders: tuple[str, ...], files: tuple[str, ...]) -> None:
    homes = metadata.packages_distributions()
    pinned = set().union(*(pins(file) for file in files))
    apart = set().union(*(pins(file) for file in INSTALLED_APART)) if "tools" in folders else set()
    homes_apart = {name for name in imported(*folders) if {name, f"{name}-cpu"} & apart}
    names = imported(*folders) - homes_apart
    missing = [name for name in names if not pinned & {canonical(home) for home in homes.get(name, ())}]
    assert missing == []
