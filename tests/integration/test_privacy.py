"""The libraries below report their use to their makers unless told not to; here nothing may come of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from app.config import PROJECT_ROOT

CONVERT = """
from pathlib import Path
from app.engine import Engine

engine = Engine.from_settings()
engine.convert(Path("tests/cases/inputs/face_one.png").read_bytes())
engine.close()
"""

# ONNX Runtime keeps quiet by itself where it sees one of these, which would hide that we forgot to tell it.
SUSPECTED_TEST_MACHINES = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "JENKINS_URL", "ORT_RUNNING_UNIT_TESTS")


def test_a_conversion_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    """Where the identifier of the device and the reports still to be sent would lie (onnxruntime#27379)."""
    environment = {name: value for name, value in os.environ.items() if name not in SUSPECTED_TEST_MACHINES}
    environment = {name: value for name, value in environment.items() if not name.startswith(("XDG_", "ORT_"))}
    subprocess.run(
        [sys.executable, "-c", CONVERT], cwd=PROJECT_ROOT, env={**environment, "HOME": str(tmp_path)}, check=True
    )
    assert list(tmp_path.rglob("*")) == []
