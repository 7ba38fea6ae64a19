"""TensorFlow's environment is whole or not there."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.command import ToolError
from tools.convert.environment import REQUIREMENTS, run_quietly, tensorflow_python


class Machine:
    """Runs nothing: makes the interpreter that ``venv`` would, and fails at what it is told to fail at."""

    def __init__(self, failing: str | None = None, says: str = "") -> None:
        self.commands: list[Sequence[str]] = []
        self._failing, self._says = failing, says

    def __call__(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        if self._failing in command:
            return subprocess.CompletedProcess(command, 1, "", self._says)
        if "venv" in command:
            python = Path(command[-1]) / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.touch()
        return subprocess.CompletedProcess(command, 0, "", "")


def silent(_: str) -> None:
    """Takes what is told and keeps it to itself."""


def test_it_is_made_once_and_kept(tmp_path: Path) -> None:
    machine, told = Machine(), []
    python = tensorflow_python(tmp_path, tell=told.append, run=machine)
    assert python.is_file()
    assert [str(REQUIREMENTS) in command for command in machine.commands] == [False, True, False]
    assert tensorflow_python(tmp_path, tell=told.append, run=machine) == python
    assert len(machine.commands) == 3
    assert len(told) == 1


@pytest.mark.parametrize(
    ("failing", "says", "sentence"),
    [
        ("venv", "", "an environment for TensorFlow cannot be made: no reason given."),
        (
            "pip",
            "WARNING: retrying\nERROR: No matching distribution found for tensorflow-cpu\nhint: none",
            "TensorFlow cannot be installed: No matching distribution found for tensorflow-cpu.",
        ),
        ("import tensorflow, tf2onnx", "Traceback\nIllegal instruction", "does not start: Illegal instruction."),
    ],
)
def test_a_failure_is_one_sentence_and_leaves_nothing(tmp_path: Path, failing: str, says: str, sentence: str) -> None:
    with pytest.raises(ToolError, match=sentence):
        tensorflow_python(tmp_path, tell=silent, run=Machine(failing, says))
    assert list(tmp_path.iterdir()) == []


def test_of_two_made_at_once_the_first_stays(tmp_path: Path) -> None:
    machine = Machine()

    def slow(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        if "venv" in command:
            tensorflow_python(tmp_path, tell=silent, run=Machine())
        return machine(command)

    python = tensorflow_python(tmp_path, tell=silent, run=slow)
    assert python.is_file()
    assert [path.name for path in tmp_path.iterdir()] == [python.parent.parent.name]


def test_other_requirements_make_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tensorflow_python(tmp_path, tell=silent, run=Machine())
    newer = tmp_path / "newer.txt"
    newer.write_text("tensorflow-cpu==99\n", encoding="ascii")
    monkeypatch.setattr("tools.convert.environment.REQUIREMENTS", newer)
    assert tensorflow_python(tmp_path, tell=silent, run=Machine()) != first


def test_every_requirement_is_pinned() -> None:
    lines = [line for line in REQUIREMENTS.read_text(encoding="ascii").splitlines() if line and line[0] != "#"]
    assert len(lines) > 20
    assert all("==" in line.partition(";")[0] for line in lines)


def test_commands_are_run_with_their_output_kept() -> None:
    done = run_quietly(("sh", "-c", "echo out; echo err >&2; exit 3"))
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
