"""A wrong kind of file is told by its content, with what to do about it."""

from pathlib import Path

import pytest

from app.errors import ModelError
from app.library import kinds
from app.library.kinds import network_suffix
from tests.unit.library import networks

STRANGERS = {
    "PyTorch": (b"PK\x03\x04\x00\x00", r"a\.onnx is a PyTorch checkpoint .*tools\.convert_checkpoint"),
    "old PyTorch": (b"\x80\x02\x8a\x0a", "is an old PyTorch checkpoint"),
    "TFLite": (b"\x1c\x00\x00\x00TFL3", "is a TensorFlow Lite file"),
    "TensorFlow": (b"\nd\n\x10Anim", "may be a frozen TensorFlow graph"),
    "Keras": (b"\x89HDF\r\n\x1a\n", "is a Keras file"),
    "a web page": (b"\n  <!DOCTYPE html><html>", "is a web page, not a network"),
    "a Git LFS pointer": (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
    "nothing": (b"", r"a\.onnx is empty\."),
}


@pytest.mark.parametrize(("content", "sentence"), STRANGERS.values(), ids=STRANGERS.keys())
def test_another_kind_of_file_is_refused_with_a_way_out(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=sentence):
        network_suffix(path)


def test_onnx_and_ort_files_are_told_by_content_and_not_by_name(tmp_path: Path) -> None:
    ort = tmp_path / "network.onnx"
    ort.write_bytes(b"\x1c\x00\x00\x00ORTM\x00\x00")
    assert network_suffix(ort) == ".ort"
    onnx = tmp_path / "network.ort"
    onnx.write_bytes(networks.HAYAO.read_bytes())
    assert network_suffix(onnx) == ".onnx"


@pytest.mark.parametrize("name", ["missing.onnx", "."])
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="cannot be read: "):
        network_suffix(tmp_path / name)


def test_an_absurdly_large_file_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "large.onnx"
    with path.open("wb") as file:
        file.write(b"\x08\x08")
        file.truncate(kinds.MOST_BYTES + 1)
    with pytest.raises(ModelError, match=r"large\.onnx has more than 512 MiB"):
        network_suffix(path)
