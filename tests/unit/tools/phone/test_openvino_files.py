"""OpenVINO, for real: same answers, and no reports."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the workshop's packages are not installed")

from app.config import PROJECT_ROOT
from tests.unit.tools.phone.networks import little_network, noise, run
from tools.phone.openvino_files import OpenVinoSession, write_openvino
from tools.phone.parts import LeftOut

# Looked for and not imported: OpenVINO reports imports that do not go by tools.phone.openvino_files.
if find_spec("openvino") is None:
    pytest.skip("OpenVINO is not installed", allow_module_level=True)


def test_openvino_draws_what_onnx_runtime_draws(tmp_path: Path) -> None:
    model, tensor = little_network([1, 3, 16, 24]), noise(1, 3, 16, 24)
    onnx.save(model, tmp_path / "a.onnx")
    xml, weights = write_openvino(tmp_path / "a.onnx", tmp_path / "a-16x24")
    assert {xml.name, weights.name} == {"a-16x24.xml", "a-16x24.bin"}
    assert weights.stat().st_size > 0
    # Its weights have 11 bits.
    assert np.abs(OpenVinoSession(xml, threads=1).run(tensor) - run(model, tensor)).max() < 2e-3


def test_a_file_that_openvino_cannot_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(b"no network")
    with pytest.raises(LeftOut, match="OpenVINO cannot read"):
        write_openvino(tmp_path / "a.onnx", tmp_path / "a")


def test_nothing_is_reported_or_left_in_the_home_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    lines = "import sys", "from tools.phone.openvino_files import openvino", "print(openvino().convert_model.__name__)"
    code = "; ".join((*lines, "print(sys.modules['openvino_telemetry'])"))
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT_ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["convert_model", "None"]
    assert list(home.rglob("*openvino*")) == []
