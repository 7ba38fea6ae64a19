"""A long run of the fuzzer: in batches, each drawn from a seed of its own, so that it can be broken off and resumed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky

from app.imaging.sniff import sniff
from tools.command import whole_file
from tools.fuzz.decoder import Outcome
from tools.fuzz.mutants import Mutant, mutants
from tools.fuzz.seeds import Seed
from tools.fuzz.subject import Subject

MOST_SECONDS: Final = 2.0
"""Processor time one file may take."""
MOST_MIB: Final = 300.0
"""Memory one file may take."""

BATCH: Final = 500
_TRIES: Final = 3
"""A file that took too much is tried again before it counts, and the least counts: others use the machine too."""
_LARGE_EVERY: Final = 50
"""One in so many batches begins with the vast pictures, which take a hundred times as long as the others ..."""
_LARGE_BATCH: Final = 60
"""... and is shorter."""


class FoundFault(Exception):
    """Tells Hypothesis to look for a smaller file with the same fault."""


@dataclass
class Finding:
    """A fault, and the smallest file that shows it."""

    fault: str
    file: str
    seed: str
    changes: list[str]
    times: int = 1
    size: int = 0


@dataclass
class Extreme:
    """The dearest file so far, in seconds or MiB."""

    amount: float = 0.0
    container: str = ""
    seed: str = ""
    changes: list[str] = field(default_factory=list)


@dataclass
class Progress:
    """How far a campaign is, as its state file keeps it."""

    seed: int
    batches: int = 0
    inputs: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    longest: Extreme = field(default_factory=Extreme)
    largest: Extreme = field(default_factory=Extreme)
    findings: list[Finding] = field(default_factory=list)

    @classmethod
    def from_json(cls, text: str) -> Progress:
        """What ``as_json`` gave."""
        held: dict[str, Any] = json.loads(text)
        held |= {name: Extreme(**held[name]) for name in ("longest", "largest")}
        held["findings"] = [Finding(**finding) for finding in held["findings"]]
        return cls(**held)

    def as_json(self) -> str:
        """For people to look at, and for ``from_json``."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


class Campaign:
    """Runs batches against ``subject`` and keeps ``folder``/state.json and the files of its findings.

    number: draws other files for another number. batch: files between two savings of the state. most_mib: what one file
    may take.
    """

    def __init__(
        self,
        folder: Path,
        subject: Subject,
        seeds: Sequence[Seed],
        large: Sequence[Seed],
        *,
        number: int,
        batch: int = BATCH,
        most_mib: float = MOST_MIB,
    ) -> None:
        self._folder = folder
        self._subject = subject
        self._seeds = [item for item in seeds if item.data]
        self._large = [item for item in large if item.data]
        self._batch = batch
        self._most_mib = most_mib
        self.progress = self._resumed(number)

    def _resumed(self, number: int) -> Progress:
        state = self._folder / "state.json"
        progress = Progress.from_json(state.read_text(encoding="utf-8")) if state.exists() else Progress(number)
        return progress if progress.seed == number else Progress(number)

    def run(self, inputs: int, tell: Callable[[Progress], None]) -> Progress:
        """Go on until ``inputs`` files have been tried in all; ``tell`` is called after each batch."""
        if not self.progress.batches:
            self._try_unchanged()
        while self.progress.inputs < inputs:
            self._run_batch(self.progress.batches, min(self._batch, inputs - self.progress.inputs))
            self.progress.batches += 1
            self._save()
            tell(self.progress)
        return self.progress

    def _try_unchanged(self) -> None:
        for item in (*self._large, *self._seeds):
            with suppress(FoundFault):
                self._try(Mutant(item.name, (), item.data))

    def _run_batch(self, batch: int, size: int) -> None:
        is_large = bool(self._large) and batch % _LARGE_EVERY == _LARGE_EVERY - 1
        seeds, size = (self._large, min(size, _LARGE_BATCH)) if is_large else (self._seeds, size)

        @seed(self.progress.seed * 1_000_003 + batch)
        @settings(
            max_examples=size,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        )
        @given(mutants(seeds))
        def try_each(mutant: Mutant) -> None:
            self._try(mutant)

        # Flaky: a fault that did not come again is kept all the same.
        with suppress(FoundFault, Flaky):
            try_each()

    def _try(self, mutant: Mutant) -> None:
        """Raises FoundFault where something new is wrong, or what is being made smaller just now still is."""
        outcome = self._subject.examine(mutant.data)
        fault = self._fault(mutant, outcome)
        self._count(mutant, outcome)
        if fault and self._note(mutant, fault):
            raise FoundFault(fault)

    def _fault(self, mutant: Mutant, outcome: Outcome) -> str:
        if outcome.fault:
            return outcome.fault
        seconds, mib = outcome.seconds, outcome.mib
        for _ in range(_TRIES - 1):
            if seconds <= MOST_SECONDS and mib <= self._most_mib:
                return ""
            again = self._subject.examine(mutant.data)
            if again.fault:
                return again.fault
            seconds, mib = min(seconds, again.seconds), max(mib, again.mib)
        if mib > self._most_mib:
            return f"over {self._most_mib:g} MiB ({outcome.answer})"
        return f"over {MOST_SECONDS:g} s ({outcome.answer})" if seconds > MOST_SECONDS else ""

    def _count(self, mutant: Mutant, outcome: Outcome) -> None:
        progress = self.progress
        progress.inputs += 1
        progress.answers = dict(Counter(progress.answers) + Counter([outcome.answer or "fault"]))
        container = sniff(mutant.data) or "none"
        changes = list(mutant.changes)
        if outcome.seconds > progress.longest.amount:
            progress.longest = Extreme(outcome.seconds, container, mutant.seed, changes)
        if outcome.mib > progress.largest.amount:
            progress.largest = Extreme(outcome.mib, container, mutant.seed, changes)

    def _note(self, mutant: Mutant, fault: str) -> bool:
        """Keep the file; whether it is worth making smaller, which each fault is in the batch that finds it."""
        container = sniff(mutant.data) or "none"
        told = f"{container}: {fault}"
        known = next((finding for finding in self.progress.findings if finding.fault == told), None)
        if known is None:
            known = Finding(told, f"{_as_file_name(told)}.{container}", mutant.seed, list(mutant.changes), 0)
            self.progress.findings.append(known)
            self._in_this_batch = (told, self.progress.batches)
        known.times += 1
        if known.times == 1 or len(mutant.data) <= known.size:
            known.seed, known.changes, known.size = mutant.seed, list(mutant.changes), len(mutant.data)
            with whole_file(self._folder / "findings" / known.file) as part:
                part.write_bytes(mutant.data)
        return self._in_this_batch == (told, self.progress.batches)

    _in_this_batch: tuple[str, int] = ("", -1)

    def _save(self) -> None:
        with whole_file(self._folder / "state.json") as part:
            part.write_text(self.progress.as_json(), encoding="utf-8")


def _as_file_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
