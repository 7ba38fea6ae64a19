"""What kind of file someone calls a network: told by its first bytes, so that a wrong one is refused with a way out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.errors import ModelError

ONNX_SUFFIX: Final = ".onnx"
ORT_SUFFIX: Final = ".ort"

MOST_BYTES: Final = 1 << 29
"""512 MiB: a hundred times the largest of the AnimeGAN family, and more than a CPU draws a picture with."""

_CONVERT: Final = "`python -m tools.convert_checkpoint` makes an ONNX file of it"

_ORT_MARK: Final = b"ORTM"
"""Bytes 4 to 8 of ONNX Runtime's own format: its flatbuffers identifier."""

_STRANGERS: Final = (
    (b"PK\x03\x04", 0, f"is a PyTorch checkpoint or another ZIP archive: {_CONVERT}"),
    (b"\x80\x02", 0, f"is an old PyTorch checkpoint: {_CONVERT}"),
    (b"TFL3", 4, f"is a TensorFlow Lite file: {_CONVERT}"),
    # A TensorFlow graph begins with its first node, an ONNX one with a version number.
    (b"\x0a", 0, f"may be a frozen TensorFlow graph: {_CONVERT}"),
    (b"\x89HDF", 0, "is a Keras file: save it as a frozen graph or as TFLite first"),
    (b"version https://git-lfs", 0, "is a Git LFS pointer, not the file itself: run `git lfs pull` where it is from"),
)


def network_suffix(path: Path, name: str = "") -> str:
    """``.onnx`` or ``.ort``, by what is in the file at ``path``.

    name: what the sentence calls it; default, its own. Raises ModelError where it is something else, cannot be
    read, is empty or is larger than MOST_BYTES.
    """
    name = name or path.name
    try:
        with path.open("rb") as file:
            head = file.read(512)
        size = path.stat().st_size
    except OSError as error:
        raise ModelError(f"{name} cannot be read: {error.strerror or error}.") from None
    if not head:
        raise ModelError(f"{name} is empty.")
    if size > MOST_BYTES:
        raise ModelError(f"{name} has more than {MOST_BYTES >> 20} MiB: no style's network is that large.")
    if head[4:8] == _ORT_MARK:
        return ORT_SUFFIX
    return _onnx(name, head)


def _onnx(name: str, head: bytes) -> str:
    if is_web_page(head):
        raise ModelError(f"{name} is a web page, not a network: download the file itself.")
    for mark, place, what in _STRANGERS:
        if head[place : place + len(mark)] == mark:
            raise ModelError(f"{name} {what}.")
    return ONNX_SUFFIX


def is_web_page(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is HTML."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:64].lower()
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<script", b"<?xml"))
