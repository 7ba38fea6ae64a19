"""A network as files for ncnn, by pnnx."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import onnx
from onnx import ModelProto

from app.inference.card import ModelCard
from tools.phone.fixed import STANDARD_DOMAINS
from tools.phone.ncnn_graph import ncnn_network
from tools.phone.ncnn_param import Layer, parse_param
from tools.phone.ncnn_session import ncnn
from tools.phone.parts import LeftOut
from tools.phone.sizes import Size

PNNX_SECONDS: Final = 300

# pnnx names its results after its input, and makes a Python module of one: a plain name suits all.
_NAME: Final = "network"


def pnnx_program() -> Path:
    """The converter that the pnnx package brings. Raises LeftOut where it is not installed.

    The package itself is not imported: that would load PyTorch.
    """
    spec = importlib.util.find_spec("pnnx")
    if spec is None or spec.origin is None:
        raise LeftOut("pnnx is not installed here (pip install -r requirements-tools.txt).")
    return Path(spec.origin).with_name("pnnx.exe" if sys.platform == "win32" else "pnnx")


@contextmanager
def converted(fixed: ModelProto, card: ModelCard, size: Size, *, half: bool) -> Iterator[tuple[Path, Path]]:
    """The .param and .bin of ``fixed``, a network of ``size``; gone after the block. half: weights of 16 bit.

    Raises LeftOut where pnnx fails, or leaves what ncnn does not know.
    """
    if any(node.domain not in STANDARD_DOMAINS for node in fixed.graph.node):
        raise LeftOut("The network has operators outside the ONNX standard, which pnnx does not read.")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, f"{_NAME}.onnx")
        onnx.save(ncnn_network(fixed, card, size), source)
        param, weights = (source.with_suffix(f".ncnn.{kind}") for kind in ("param", "bin"))
        _run_pnnx(source, size, half=half)
        _check(param, weights)
        yield param, weights


def _run_pnnx(source: Path, size: Size, *, half: bool) -> None:
    shape = f"inputshape=[1,3,{size[1]},{size[0]}]f32"
    command = [str(pnnx_program()), source.name, shape, f"fp16={int(half)}"]
    try:
        subprocess.run(command, cwd=source.parent, capture_output=True, timeout=PNNX_SECONDS, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        raise LeftOut(f"pnnx cannot convert the network ({type(error).__name__}).") from error


def _check(param: Path, weights: Path) -> None:
    if not (param.is_file() and weights.is_file()):
        raise LeftOut("pnnx did not convert the network.")
    known = ncnn().layer_to_index
    # pnnx writes its own names of what it cannot say in ncnn's.
    unknown = sorted({layer.type for layer in read_layers(param) if known(layer.type) < 0})
    if unknown:
        raise LeftOut(f"ncnn has no layer for {', '.join(unknown)}.")


def read_layers(param: Path) -> list[Layer]:
    """The layers in a .param file."""
    return parse_param(param.read_text(encoding="utf-8"))
