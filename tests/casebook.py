"""The case book, tests/cases/cases.tsv: awkward pictures, what each must give, and the twin it must look like."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CASES_DIR: Final = Path(__file__).parent / "cases"

_SIZE: Final = re.compile(r"\b(\d+)x(\d+)\b")


@dataclass(frozen=True, slots=True)
class Case:
    """One row. ``statuses``: the HTTP statuses that are right. ``twin``: a plain PNG of the same picture, or None."""

    name: str
    kind: str
    trigger: str
    statuses: frozenset[int]
    expected: str
    path: Path
    twin: Path | None

    @property
    def data(self) -> bytes:
        """The upload."""
        return self.path.read_bytes()

    @property
    def accepted(self) -> bool:
        """Whether the picture must be converted."""
        return self.statuses == {200}

    @property
    def size(self) -> tuple[int, int] | None:
        """The upright (width, height) that the row names, if it names one."""
        found = _SIZE.search(self.expected)
        return (int(found[1]), int(found[2])) if found else None

    def __str__(self) -> str:
        return self.name


def _read() -> tuple[Case, ...]:
    with (CASES_DIR / "cases.tsv").open(encoding="utf-8", newline="") as file:
        return tuple(_case(row) for row in csv.DictReader(file, delimiter="\t"))


def _case(row: dict[str, str]) -> Case:
    path = CASES_DIR / row["file"]
    return Case(
        name=path.name,
        kind=row["kind"],
        trigger=row["trigger"],
        statuses=frozenset(int(status) for status in row["expected_status"].split("|")),
        expected=row["expected_output"],
        path=path,
        twin=CASES_DIR / row["twin"] if row["twin"] else None,
    )


CASES: Final = _read()


def case(name: str) -> Case:
    """The case with that file name."""
    return next(item for item in CASES if item.name == name)
