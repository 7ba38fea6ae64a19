"""Errors of the commands, and files that are whole or not there."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT
from app.errors import ModelError
from tools.command import ToolError, check_file, run_command, whole_file, whole_number


def exit_code(main) -> object:
    with pytest.raises(SystemExit) as ended:
        run_command(main)
    return ended.value.code


def raiser(error: BaseException):
    def main() -> None:
        raise error

    return main


def test_a_command_ends_with_its_own_code() -> None:
    assert exit_code(lambda: 1) == 1
    assert exit_code(lambda: None) == 0


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ToolError("a.onnx is empty."), "a.onnx is empty."),
        (ModelError("Style x has no id."), "Style x has no id."),
        (FileNotFoundError(2, "No such file or directory", "a.onnx"), "a.onnx: No such file or directory."),
        (OSError(28, "No space left on device"), "No space left on device."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_person_can_mend_is_one_sentence(capsys: pytest.CaptureFixture[str], error, sentence: str) -> None:
    assert exit_code(raiser(error)) == 2
    assert capsys.readouterr().err == f"error: {sentence}\n"


def test_a_bug_keeps_its_trace() -> None:
    with pytest.raises(ZeroDivisionError):
        run_command(raiser(ZeroDivisionError()))


def test_an_interrupted_command_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(raiser(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("text", ["2", "-3", "3.0", "x", "", "٣"])
def test_a_number_below_the_least_and_what_is_none_are_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="at least 3"):
        whole_number(3)(text)
    assert whole_number(3)("3") == 3


def test_a_file_to_read_is_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(b"x")
    assert check_file(path) == path


def test_what_is_no_file_to_read_is_refused(tmp_path: Path) -> None:
    for content, why in ((b"", "empty"), (b"x" * 9, "0 MiB"), (b"version https://git-lfs.github.com/spec/v1", "LFS")):
        path = tmp_path / "a.onnx"
        path.write_bytes(content)
        with pytest.raises(ToolError, match=why):
            check_file(path, most_bytes=8 if why == "0 MiB" else 100)
    with pytest.raises(ToolError, match="missing"):
        check_file(tmp_path / "b.onnx")
    with pytest.raises(ToolError, match="not a file"):
        check_file(tmp_path)


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.onnx"
    with whole_file(target) as part:
        part.write_bytes(b"half")
        assert not target.exists()
        assert part.suffix == ".onnx"
    assert target.read_bytes() == b"half"
    assert list(target.parent.iterdir()) == [target]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "a.onnx"
    target.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        _write_half(target)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def _write_half(target: Path) -> None:
    with whole_file(target) as part:
        part.write_bytes(b"new")
        raise ZeroDivisionError


def test_a_command_that_is_told_to_end_leaves_nothing_half_written(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from tools.command import run_command, whole_file\n"
        "def main():\n"
        "    with whole_file(Path(sys.argv[1]) / 'a.onnx') as part:\n"
        "        part.write_bytes(b'half')\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "run_command(main)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=PROJECT_ROOT, check=False)
    assert ended.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_is_told_to_end_while_hypothesis_tries_things_ends() -> None:
    script = (
        "import os, signal\n"
        "from hypothesis import given, strategies\n"
        "from tools.command import run_command\n"
        "told = []\n"
        "@given(strategies.integers())\n"
        "def tell_once(number):\n"
        "    if not told:\n"
        "        told.append(number)\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "def main():\n"
        "    try:\n"
        "        tell_once()\n"
        "    except Exception:\n"
        "        return 0\n"
        "run_command(main)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=PROJECT_ROOT, check=False)
    assert ended.returncode == 128 + signal.SIGTERM
