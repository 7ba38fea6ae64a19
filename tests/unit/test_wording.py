"""The repository speaks of the project alone: no file names a folder of the machine it was written on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT

WRITTEN = {".cfg", ".css", ".html", ".js", ".json", ".md", ".py", ".sh", ".svg", ".toml", ".tsv", ".txt", ".yaml", ""}
"""Suffixes of what people write; "" for scripts, Dockerfile and LICENSE."""

A_MACHINES_OWN = re.compile(r"(?<![\w.$}\])*/-])/(?:root|Users/\w+|home/\w+)/")

EXAMPLE_FOLDER = Path("/srv/animebooth")
"""Where the manuals suppose a checkout to be."""


def written_files(root: Path) -> Iterator[Path]:
    """All of them, but for what is hidden, built or fetched."""
    for path in sorted(root.iterdir()):
        if path.name.startswith(".") or path.name in ("__pycache__", "node_modules", "out"):
            continue
        if path.is_dir():
            yield from written_files(path)
        elif path.suffix in WRITTEN and path != Path(__file__):
            yield path


def machine_paths(text: str) -> list[str]:
    """Lines that name a folder of one machine."""
    return [line for line in text.splitlines() if A_MACHINES_OWN.search(line)]


def test_no_file_names_a_folder_of_one_machine() -> None:
    found = {path: machine_paths(path.read_text(encoding="utf-8")) for path in written_files(PROJECT_ROOT)}
    assert {str(path): lines for path, lines in found.items() if lines} == {}


@pytest.mark.skipif(PROJECT_ROOT == EXAMPLE_FOLDER, reason="the manuals do name this folder")
def test_no_file_names_the_folder_it_lies_in() -> None:
    naming = [path for path in written_files(PROJECT_ROOT) if f"{PROJECT_ROOT}/" in path.read_text(encoding="utf-8")]
    assert naming == []


@pytest.mark.parametrize("line", ["see /root/notes.md", 'path = "/home/ann/models/"', "(/Users/ann/animebooth/app)"])
def test_such_a_folder_would_be_found(line: str) -> None:
    assert machine_paths(line) == [line]


@pytest.mark.parametrize("line", ["https://example.org/work/1", "docs/home/page/", "GET /convert", "tests/root/x"])
def test_addresses_and_relative_paths_are_none(line: str) -> None:
    assert machine_paths(line) == []
