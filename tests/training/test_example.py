"""The example of docs/training.md works as it is written."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT

pytest.importorskip("torch", reason="PyTorch (requirements-tools.txt) is not installed")
pytest.importorskip("onnx", reason="onnx (requirements-tools.txt) is not installed")

BLOCK = re.compile(r"```sh\n(python -m training\.distil --teacher models/.*?)```", re.DOTALL)


def commands() -> list[list[str]]:
    """Those of the example, word by word."""
    block = BLOCK.search((PROJECT_ROOT / "docs" / "training.md").read_text(encoding="utf-8"))
    assert block, "docs/training.md has no example"
    return [shlex.split(line) for line in block[1].replace("\\\n", "").strip().splitlines()]


@pytest.mark.slow
def test_the_example_walks_the_whole_way(tmp_path: Path) -> None:
    models = shutil.copytree(PROJECT_ROOT / "models", tmp_path / "models")
    environment = os.environ | {"ANIMEBOOTH_MODELS_DIR": str(models)}
    for program, *arguments in commands():
        assert program == "python"
        arguments = [word.replace("out/", f"{tmp_path}/out/") for word in arguments]
        subprocess.run([sys.executable, *arguments], cwd=PROJECT_ROOT, env=environment, check=True)
    assert [path.stem for path in (tmp_path / "out" / "drawn").iterdir()] == ["cat-anime"]
    assert "| SSIM |" in (tmp_path / "out" / "student" / "report.md").read_text(encoding="utf-8")
