"""TensorFlow in an environment of its own, made when it is first needed: 1.6 GB that the service does not need."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from tools.command import ToolError, whole_file

REQUIREMENTS: Final = Path(__file__).with_name("tensorflow-requirements.txt")

DEFAULT_CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "animebooth"
"""Where the environment is kept (XDG Base Directory Specification)."""

Run: TypeAlias = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
"""Runs a command to its end, with its output kept as text."""

# The environment's packages alone, whatever the person's own PYTHON* variables say.
ISOLATED: Final = "-I"


def run_quietly(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run ``command``; its two outputs come back as text, the exit code is left to the caller."""
    # Only commands put together here are run, without a shell.
    return subprocess.run(command, capture_output=True, text=True, check=False)


def tensorflow_python(cache: Path, *, tell: Callable[[str], None], run: Run = run_quietly) -> Path:
    """The interpreter of an environment with REQUIREMENTS in it; made under ``cache`` where there is none yet.

    It appears when it is whole. Changed requirements, another Python or another processor make another one. Raises
    ToolError where it cannot be made.
    """
    folder = cache / f"tensorflow-{_key()}"
    python = folder / "bin" / "python"
    if not python.exists():
        tell(f"setting up TensorFlow in {folder}, once (1.6 GB) ...")
        try:
            with whole_file(folder) as part:
                _make(part, run)
        except OSError:
            # Another conversion that began at the same time has put its own there first.
            if not python.exists():
                raise
    return python


def _key() -> str:
    facts = (REQUIREMENTS.read_text(encoding="ascii"), sys.version, platform.machine(), sys.platform)
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]


def _make(folder: Path, run: Run) -> None:
    python = str(folder / "bin" / "python")
    install = ("-m", "pip", "install", "--no-deps", "--only-binary", ":all:", "--requirement", str(REQUIREMENTS))
    _do(run, (sys.executable, "-m", "venv", str(folder)), "an environment for TensorFlow cannot be made")
    _do(run, (python, ISOLATED, *install), "TensorFlow cannot be installed")
    _do(run, (python, ISOLATED, "-c", "import tensorflow, tf2onnx"), "TensorFlow does not start")


def _do(run: Run, command: Sequence[str], trouble: str) -> None:
    done = run(command)
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        # pip's last error line says it best; what follows it are hints.
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        raise ToolError(
            f"{trouble}: {errors[-1].removeprefix('ERROR: ').rstrip('.') if errors else 'no reason given'}."
        )
