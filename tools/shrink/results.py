"""What came of it: files that were made, and those that were refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.inference.processor import processor_kind
from tools.shrink.panel import Verdict


class Refused(Exception):
    """A file is not made. ``str(error)`` says why, to follow its name."""


_QUICK_IS_THE_POINT: Final = ("int8", "dynamic")


@dataclass(frozen=True, slots=True)
class Result:
    """A file that was made. time: for what takes FP32 one. note: for people; empty where there is nothing to say."""

    kind: str
    path: Path
    verdict: Verdict
    time: float
    note: str

    @property
    def pays(self) -> bool:
        """Whether it is quicker than FP32 on this processor."""
        return self.time < 1

    @property
    def remark(self) -> str:
        """The note, and whether speed is missing where it is what the file is for."""
        slow = f"does not pay on {processor_kind()}: no faster than FP32"
        return "; ".join(filter(None, [self.note, slow if self.kind in _QUICK_IS_THE_POINT and not self.pays else ""]))


@dataclass
class Outcome:
    """refused: why, by the name of the file that was not made."""

    results: list[Result] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
