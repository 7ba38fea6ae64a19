"""What kind of file a person has handed in, by its first bytes and its name."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, TypeAlias

from tools.command import ToolError, check_file

Kind: TypeAlias = Literal["pytorch", "graphdef", "tflite"]

# File identifier in the TFLite schema; FlatBuffers keep it after the first offset.
_TFLITE: Final = b"TFL3"

_READY: Final = frozenset({".onnx", ".ort"})


def kind_of(path: Path) -> Kind:
    """Kind of ``path``. Raises ToolError for what needs no conversion or is a page saved in place of a file."""
    check_file(path)
    if path.suffix.lower() in _READY:
        raise ToolError(f"{path} is ready for ONNX Runtime as it is: `python -m app models add {path}`.")
    with path.open("rb") as file:
        head = file.read(64)
    # Download pages are what often lies under a checkpoint's name.
    if head.lstrip()[:1] == b"<":
        raise ToolError(f"{path} is a web page, not a checkpoint: download the file itself.")
    if head[4:8] == _TFLITE:
        return "tflite"
    return "graphdef" if path.suffix.lower() == ".pb" else "pytorch"
