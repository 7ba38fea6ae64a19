"""scripts/environment.py: what the two scripts set up, how often, and what they say where it cannot be done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT
from scripts import environment


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the person at the terminal reads."""
    lines: list[str] = []
    monkeypatch.setattr(environment, "say", lines.append)
    return lines


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "requirements.txt").write_text("alpha==1\n")
    (tmp_path / "requirements-dev.txt").write_text("beta==1\n")
    return tmp_path


class Steps:
    """Stands in for the slow steps, and notes them: ``made`` an environment, ``installed`` so many files."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def create(self, folder: Path) -> None:
        self.done.append("made")
        environment.python_of(folder).parent.mkdir(parents=True, exist_ok=True)
        environment.python_of(folder).unlink(missing_ok=True)
        environment.python_of(folder).symlink_to(sys.executable)

    def pip_install(self, _folder: Path, requirements: Sequence[Path]) -> None:
        self.done.append(f"installed {len(requirements)}")

    def taken(self) -> list[str]:
        """What was done since this was last asked."""
        done, self.done = self.done, []
        return done


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    noted = Steps()
    monkeypatch.setattr(environment, "create", noted.create)
    monkeypatch.setattr(environment, "pip_install", noted.pip_install)
    return noted


def set_up(checkout: Path, *, for_tests: bool = False) -> None:
    files = ["requirements.txt", "requirements-dev.txt"] if for_tests else ["requirements.txt"]
    environment.install(checkout / ".venv", [checkout / file for file in files])


def test_the_second_start_does_nothing(checkout: Path, steps: Steps) -> None:
    set_up(checkout)
    assert steps.taken() == ["made", "installed 1"]
    set_up(checkout)
    assert steps.taken() == []


def test_a_changed_pin_makes_everything_anew(checkout: Path, steps: Steps) -> None:
    """Or what is no longer asked for would stay, a second OpenCV for one."""
    set_up(checkout)
    (checkout / "requirements.txt").write_text("alpha==2\n")
    steps.taken()
    set_up(checkout)
    assert steps.taken() == ["made", "installed 1"]


def test_what_tests_need_is_added_to_what_serving_needs(checkout: Path, steps: Steps) -> None:
    set_up(checkout)
    steps.taken()
    set_up(checkout, for_tests=True)
    assert steps.taken() == ["installed 2"]
    set_up(checkout)
    assert steps.taken() == [], "serving after testing must find all it needs"


def test_an_interrupted_installation_is_done_anew(
    checkout: Path, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(environment, "pip_install", interrupted)
        with pytest.raises(KeyboardInterrupt):
            set_up(checkout)
    steps.taken()
    set_up(checkout)
    assert steps.taken() == ["made", "installed 1"]


def test_an_environment_whose_python_is_gone_is_made_anew(checkout: Path, steps: Steps) -> None:
    set_up(checkout)
    environment.python_of(checkout / ".venv").unlink()
    steps.taken()
    set_up(checkout)
    assert steps.taken() == ["made", "installed 1"]


def test_of_several_at_once_one_works_and_the_others_wait(checkout: Path, steps: Steps) -> None:
    with ThreadPoolExecutor(4) as several:
        list(several.map(lambda _: set_up(checkout), range(4)))
    assert steps.taken() == ["made", "installed 1"]


def test_a_real_installation_that_fails_shows_why_and_leaves_no_stamp(checkout: Path, said: list[str]) -> None:
    (checkout / "requirements.txt").write_text(f"{checkout}/no-such-package\n")
    with pytest.raises(environment.SetupError):
        set_up(checkout)
    assert any("no-such-package" in line for line in said)
    assert environment.installed(checkout / ".venv") == []


def refuse(name: str) -> object:
    raise OSError(f"{name}: cannot open shared object file")


def test_missing_libraries_are_named_with_the_line_that_brings_them(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "may_use_apt", lambda: False)
    missing = environment.missing_libraries(load=refuse)
    assert missing == ["libgl1", "libglib2.0-0", "libegl1", "libgles2"]
    with pytest.raises(environment.SetupError, match=r"apt-get install libgl1 libglib2\.0-0 libegl1 libgles2"):
        environment.need_system_packages(missing, optional=environment.FOR_FACES_ONLY)


def test_without_the_libraries_for_faces_it_goes_on_and_says_so(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "may_use_apt", lambda: False)
    environment.need_system_packages(["libegl1"], optional=environment.FOR_FACES_ONLY)
    assert "apt-get install libegl1" in said[0]
    assert "faces" in said[0]


def test_root_on_debian_gets_them_installed(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    commands: list[list[str]] = []

    def record(command: list[str], *_: object) -> bool:
        commands.append(command)
        return True

    monkeypatch.setattr(environment, "may_use_apt", lambda: True)
    monkeypatch.setattr(environment, "run_quietly", record)
    environment.need_system_packages(["libgl1"])
    assert [command[:2] for command in commands] == [["apt-get", "update"], ["apt-get", "install"]]
    assert commands[1][-1] == "libgl1"


@pytest.mark.parametrize(("asked", "package"), [("--browser", "chromium"), ("--redis", "redis-server")])
def test_the_programs_that_only_tests_need_are_seen_to_where_asked_for(
    asked: str, package: str, monkeypatch: pytest.MonkeyPatch, steps: Steps, checkout: Path
) -> None:
    needed: list[str] = []
    monkeypatch.setattr(environment, "PROJECT_ROOT", checkout)
    monkeypatch.setattr(environment, "missing_libraries", list)
    monkeypatch.setattr(environment, "need_system_packages", lambda packages, optional=(): needed.extend(packages))
    monkeypatch.setattr(environment.shutil, "which", lambda program: None)
    for arguments in ([], [asked]):
        assert environment.main([*arguments, str(checkout / "requirements.txt")]) == 0
    assert needed == [package]


@pytest.mark.parametrize("script", ["serve", "test"])
def test_without_a_fitting_python_the_scripts_say_so(script: str, tmp_path: Path) -> None:
    for tool in ("bash", "dirname", "env"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    old = tmp_path / "python3"
    old.write_text("#!/usr/bin/bash\nexit 1\n")
    old.chmod(0o755)
    done = subprocess.run(
        [PROJECT_ROOT / "scripts" / script], env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13" in done.stderr
