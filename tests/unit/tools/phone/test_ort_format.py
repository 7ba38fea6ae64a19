"""ONNX Runtime's own format: the same network, and no more than was asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

onnx = pytest.importorskip("onnx", reason="the workshop's packages are not installed")

from app.config import PROJECT_ROOT
from tests.unit.tools.phone.networks import little_network, noise, run
from tools.phone.ort_format import OPERATORS_FILE, write_ort_files
from tools.phone.parts import LeftOut


def test_the_answer_is_the_same_and_the_operators_are_listed(tmp_path: Path) -> None:
    model, tensor = little_network([1, 3, 16, 24]), noise(1, 3, 16, 24)
    (tmp_path / "onnx").mkdir()
    onnx.save(model, tmp_path / "onnx" / "a-16x24.onnx")
    write_ort_files(tmp_path / "onnx", tmp_path / "ort")
    assert {path.name for path in (tmp_path / "ort").iterdir()} == {"a-16x24.ort", OPERATORS_FILE}
    session = ort.InferenceSession(str(tmp_path / "ort" / "a-16x24.ort"))
    np.testing.assert_allclose(session.run(None, {"input": tensor})[0], run(model, tensor), atol=1e-5)
    lines = (tmp_path / "ort" / OPERATORS_FILE).read_text().splitlines()
    assert "# - a-16x24.ort" in lines
    assert "com.microsoft;1;FusedConv" in lines


def test_a_file_that_onnx_runtime_cannot_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(b"no network")
    with pytest.raises(LeftOut, match="cannot write"):
        write_ort_files(tmp_path, tmp_path / "ort")


def test_pytorch_is_not_loaded_for_it() -> None:
    lines = "import sys, tools.bundle", "from tools.phone.ort_format import _converter", "_converter()"
    code = "; ".join((*lines, "print('torch' in sys.modules)"))
    ended = subprocess.run([sys.executable, "-c", code], cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"
