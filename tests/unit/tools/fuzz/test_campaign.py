"""A campaign finds what is wrong, makes it small, counts right, and goes on where it was broken off."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.config import PROJECT_ROOT
from tools.fuzz.campaign import MOST_MIB, MOST_SECONDS, Campaign, Progress
from tools.fuzz.decoder import Outcome
from tools.fuzz.seeds import Seed, case_book, small_pictures
from tools.fuzz.subject import Subject
from tools.fuzz_decoder import main

SEEDS = [Seed("plain", b"\x89PNG\r\n\x1a\n" + bytes(100)), Seed("empty", b"")]
BATCH = 60
INPUTS = 150
MOST_FF = 5


class FakeSubject(Subject):
    """Faulty wherever a file holds more than MOST_FF bytes 0xFF."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[bytes] = []

    def examine(self, data: bytes) -> Outcome:
        self.seen.append(data)
        return Outcome("png", "too many" if data.count(0xFF) > MOST_FF else "", 0.0, 0.0)


class Dear(Subject):
    """Takes what it is told, one outcome after the other."""

    def __init__(self, *costs: tuple[float, float]) -> None:
        super().__init__()
        self._costs = list(costs)

    def examine(self, data: bytes) -> Outcome:
        seconds, mib = self._costs.pop(0) if self._costs else (0.0, 0.0)
        return Outcome("jpeg", "", seconds, mib)


def campaign(folder: Path, subject: Subject, number: int = 1) -> Campaign:
    return Campaign(folder, subject, SEEDS, [], number=number, batch=BATCH)


def run(folder: Path, subject: Subject, inputs: int, number: int = 1) -> Progress:
    return campaign(folder, subject, number).run(inputs, lambda progress: None)


def test_every_input_is_counted_by_its_answer(tmp_path: Path) -> None:
    subject = FakeSubject()
    progress = run(tmp_path, subject, INPUTS)
    assert progress.inputs == len(subject.seen) >= INPUTS
    assert sum(progress.answers.values()) == progress.inputs
    assert len(set(subject.seen)) > INPUTS / 2


def test_what_is_found_is_kept_and_made_small(tmp_path: Path) -> None:
    subject = FakeSubject()
    (finding,) = run(tmp_path, subject, INPUTS).findings
    kept = (tmp_path / "findings" / finding.file).read_bytes()
    faulty = [data for data in subject.seen if data.count(0xFF) > MOST_FF]
    assert finding.fault == "png: too many"
    assert finding.times == len(faulty)
    assert kept in faulty
    assert finding.size == len(kept) == min(map(len, faulty)) < max(map(len, faulty))


def test_the_same_number_draws_the_same_files_and_another_draws_others(tmp_path: Path) -> None:
    first, again, other = FakeSubject(), FakeSubject(), FakeSubject()
    run(tmp_path / "a", first, BATCH)
    run(tmp_path / "b", again, BATCH)
    run(tmp_path / "c", other, BATCH, number=2)
    assert first.seen == again.seen
    assert first.seen != other.seen


def test_what_was_broken_off_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole, first, rest = FakeSubject(), FakeSubject(), FakeSubject()
    run(tmp_path / "whole", whole, INPUTS)
    with pytest.raises(KeyboardInterrupt):
        campaign(tmp_path / "parts", first).run(INPUTS, interrupt)
    progress = run(tmp_path / "parts", rest, INPUTS)
    assert first.seen + rest.seen == whole.seen
    assert progress.inputs == len(whole.seen)


def interrupt(progress: Progress) -> None:
    raise KeyboardInterrupt


def test_a_cost_counts_if_it_comes_again_and_again(tmp_path: Path) -> None:
    over = (MOST_SECONDS + 1, 0.0)
    assert not run(tmp_path / "once", Dear(over, (0.1, 0.0)), 1).findings
    slow = run(tmp_path / "always", Dear(over, over, over), 1)
    assert [finding.fault for finding in slow.findings] == ["png: over 2 s (jpeg)"]


def test_memory_over_the_limit_is_a_finding(tmp_path: Path) -> None:
    hungry = run(tmp_path, Dear(*[(0.0, MOST_MIB + 1)] * 3), 1)
    assert [finding.fault for finding in hungry.findings] == ["png: over 300 MiB (jpeg)"]
    assert hungry.largest.amount == MOST_MIB + 1
    assert (hungry.largest.seed, hungry.largest.changes) == ("plain", [])


def test_seeds_hold_every_kind_that_is_read() -> None:
    suffixes = {seed.name.rpartition(".")[2] for seed in [*small_pictures(), *case_book()]}
    assert {"jpeg", "png", "webp", "avif", "tiff", "gif", "bmp", "heic"} <= suffixes


def test_a_short_run_against_the_decoder_finds_nothing(tmp_path: Path, capsys) -> None:
    """The run that every change goes through; the long one is docs/load.md's."""
    assert main(["--inputs", "250", "--no-large", "--out", str(tmp_path)]) == 0, capsys.readouterr().out
    assert "nothing found" in capsys.readouterr().out
    assert Progress.from_json((tmp_path / "state.json").read_text()).inputs >= 250
    assert PROJECT_ROOT not in tmp_path.parents
