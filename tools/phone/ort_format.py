"""Files in ONNX Runtime's own format for ARM processors, and the operators a reduced build of it must have."""

from __future__ import annotations

import importlib
import io
import logging
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

from tools.phone.parts import LeftOut

OPERATORS_FILE: Final = "required_operators.config"
"""For ``--include_ops_by_config`` of ONNX Runtime's build script."""

_CHATTY: Final = "ort_format_model.utils"


def write_ort_files(onnx_folder: Path, ort_folder: Path) -> None:
    """Convert every .onnx file of one folder to a .ort file in the other, with OPERATORS_FILE beside them.

    The graph is optimised for ARM as far as any processor runs it: no blocked layout of x86, 8-bit tensors stay signed.
    Raises LeftOut where that fails.
    """
    converter = _converter()
    logging.getLogger(_CHATTY).setLevel(logging.WARNING)
    try:
        with redirect_stdout(io.StringIO()), warnings.catch_warnings():
            # It leaves its files for Python to close.
            warnings.simplefilter("ignore", ResourceWarning)
            converter.convert_onnx_models_to_ort(
                onnx_folder, ort_folder, [converter.OptimizationStyle.Fixed], target_platform="arm"
            )
    # ONNX Runtime's exceptions have no common root but Exception.
    except Exception as error:
        raise LeftOut("ONNX Runtime cannot write the network in its own format.") from error
    _forget_folders(ort_folder / OPERATORS_FILE)


def _converter() -> Any:
    """ONNX Runtime's converter, without PyTorch.

    onnxruntime.tools loads that wherever it is installed, and with it seconds, 200 MB and an OpenMP library whose
    waiting threads spin, which then ncnn would use too.
    """
    hidden = "torch" not in sys.modules
    if hidden:
        sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("onnxruntime.tools.convert_onnx_models_to_ort")
    finally:
        if hidden:
            del sys.modules["torch"]


def _forget_folders(path: Path) -> None:
    # Its comments name the files with the folders they lay in, which are nobody's business.
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(f"{_without_folder(line)}\n" for line in lines), encoding="utf-8")


def _without_folder(line: str) -> str:
    return f"# - {Path(line[4:]).name}" if line.startswith("# - ") else line
