"""What a file is, by its first bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.command import ToolError
from tools.convert.kinds import kind_of


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.pt", b"PK\x03\x04", "pytorch"),
        ("a.pb", b"\x0a\x10", "graphdef"),
        ("a.tflite", b"\x1c\0\0\0TFL3", "tflite"),
        ("renamed", b"\x1c\0\0\0TFL3", "tflite"),
    ],
)
def test_the_kind_is_known(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert kind_of(tmp_path / name) == kind


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [("a.onnx", b"\x08\x08", "models add"), ("a.pt", b"\n<!DOCTYPE html>", "web page"), ("a.pt", b"", "empty")],
)
def test_what_needs_no_conversion_or_is_no_network_is_refused(
    tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ToolError, match=why):
        kind_of(tmp_path / name)
