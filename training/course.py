"""A course from the first step to the last, with a state on disk from which the next call goes on."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import torch

from tools.command import ToolError, whole_file
from tools.networks.lite2 import Lite2
from training.recipe import Recipe
from training.sampler import Sampler
from training.student import Machine, Student

STATE: Final = "state.pt"
LOG: Final = "log.csv"

SAVE_EVERY: Final = 120.0
"""Seconds: what a crash costs at most."""

LONGEST_STEP: Final = 30.0
"""Seconds of a step that count: one that took longer was stopped or asleep in between."""

LOG_EVERY: Final = 50
"""Steps; rows hold means over them."""

MAY_CHANGE: Final = frozenset({"steps", "hours", "pairs"})
"""Of a recipe, between two calls: a course may be made longer, and get more to learn from."""

Row = dict[str, float]
Validate = Callable[[Lite2], Mapping[str, float]]
Tell = Callable[[Row], object]
"""Hears each new row of the log."""


@dataclass(slots=True)
class Course:
    """steps and seconds: done so far. rows: the log. validate: numbers of the student on held-out squares."""

    recipe: Recipe
    folder: Path
    sampler: Sampler
    validate: Validate
    validate_every: int
    machine: Machine = field(default_factory=Machine.best)
    steps: int = 0
    seconds: float = 0.0
    rows: list[Row] = field(default_factory=list)
    student: Student = field(init=False)

    def __post_init__(self) -> None:
        self.student = Student(self.recipe, self.machine)

    def resume(self) -> bool:
        """Go on from the state in the folder, if there is one. Raises ToolError where it is of another recipe."""
        path = self.folder / STATE
        if not path.exists():
            return False
        state = _read(path)
        changed = [
            key
            for key, value in self.recipe.as_dict().items()
            if key not in MAY_CHANGE and state["recipe"].get(key) != value
        ]
        if changed:
            differ = ", ".join(changed)
            raise ToolError(f"{path} is of another course ({differ} differ); name another folder for --out.")
        self.student.load(state["student"])
        self.steps, self.seconds, self.rows = state["steps"], state["seconds"], state["rows"]
        return True

    def run(self, tell: Tell, *, until: int | None = None) -> None:
        """Learn to the end, or to step ``until``; the state is saved on the way, at the end and when interrupted."""
        try:
            self._run(tell, until)
        finally:
            self.save()

    def _run(self, tell: Tell, until: int | None) -> None:
        recent: list[Mapping[str, float]] = []
        saved = last = time.monotonic()
        while (progress := self.recipe.progress(self.steps, self.seconds)) < 1 and self.steps != until:
            recent.append(self.student.learn(self.steps, progress, self.sampler.at(self.steps)))
            self.steps += 1
            now = time.monotonic()
            self.seconds, last = self.seconds + min(now - last, LONGEST_STEP), now
            if self.steps % LOG_EVERY == 0:
                tell(self._log(recent, progress))
                recent = []
            if now - saved >= SAVE_EVERY:
                self.save()
                saved = now

    def _log(self, recent: list[Mapping[str, float]], progress: float) -> Row:
        row: Row = {"step": self.steps, "seconds": round(self.seconds, 1), "progress": progress}
        row |= {name: fmean(terms[name] for terms in recent) for name in recent[0]}
        if self.steps % self.validate_every == 0:
            row |= self.validate(self.student.plain())
        self.rows.append(row)
        return row

    def save(self) -> None:
        """State and log, each whole or not at all."""
        state = {
            "recipe": self.recipe.as_dict(),
            "student": self.student.state(),
            "steps": self.steps,
            "seconds": self.seconds,
            "rows": self.rows,
        }
        with whole_file(self.folder / STATE) as part:
            torch.save(state, part)
        with whole_file(self.folder / LOG) as part:
            part.write_text(_as_csv(self.rows))


def _read(path: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        why = type(error).__name__
        raise ToolError(f"{path} cannot be read as a state ({why}); remove it to begin anew.") from error
    return state


def _as_csv(rows: list[Row]) -> str:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: f"{value:.6g}" for key, value in row.items()} for row in rows)
    return text.getvalue()


def describe(recipe: Recipe) -> str:
    """The recipe as JSON, for a report."""
    return json.dumps(recipe.as_dict(), indent=2)
