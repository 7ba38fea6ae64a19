"""A network run by ncnn. As a command it tries one apart, since ncnn ends its process where a graph is odd.

``python -m tools.phone.ncnn_session NET.param NET.bin WIDTH HEIGHT`` runs a gray picture; exit code 0: it went well.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from app.config import PROJECT_ROOT
from app.inference.card import Layout
from app.types import Tensor
from tools.phone.ncnn_graph import TO_NCHW, TO_NHWC
from tools.phone.parts import LeftOut, optional_module
from tools.phone.sizes import Size

INPUT: Final = "in0"
OUTPUT: Final = "out0"
"""What pnnx calls the ends of every network."""

TRIAL_SECONDS: Final = 120


def ncnn() -> Any:
    """ncnn, its threads asleep while they wait. Raises LeftOut where it is not installed."""
    # Read once, while its OpenMP library loads. Threads that wait by spinning took 8 times the processor's time of the
    # work itself on a busy machine of two cores, and the run 2.4 times as long.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return optional_module("ncnn")


class NcnnSession:
    """A network in ncnn's files, with planes of channels in and out, behind the layout of its card.

    Raises LeftOut where ncnn is missing or cannot load the files.
    """

    def __init__(self, param: Path, weights: Path, layout: Layout, *, threads: int) -> None:
        self._ncnn = ncnn()
        self._layout = layout
        self._net = self._ncnn.Net()
        self._net.opt.num_threads = threads
        self._net.opt.use_vulkan_compute = False
        if self._net.load_param(str(param)) != 0 or self._net.load_model(str(weights)) != 0:
            raise LeftOut(f"ncnn cannot load {param.name}.")

    def run(self, tensor: Tensor) -> Tensor:
        """One pass; the batch is one picture."""
        planes = tensor.transpose(TO_NCHW) if self._layout == "NHWC" else tensor
        answer = self._extract(planes[0], [OUTPUT])[OUTPUT][np.newaxis]
        return np.ascontiguousarray(answer.transpose(TO_NHWC) if self._layout == "NHWC" else answer)

    def blobs(self, tensor: Tensor, names: list[str]) -> dict[str, Tensor]:
        """The tensors called ``names`` within the network, given in its order, for one picture (1, 3, H, W)."""
        return self._extract(tensor[0], names)

    def _extract(self, planes: Tensor, names: list[str]) -> dict[str, Tensor]:
        extractor: Any = self._net.create_extractor()
        # A Mat of an array does not keep it alive: the array has a name until a copy in ncnn's own memory is made.
        contiguous = np.ascontiguousarray(planes)
        extractor.input(INPUT, self._ncnn.Mat(contiguous).clone())
        found = {}
        for name in names:
            fault, blob = extractor.extract(name)
            if fault:
                raise LeftOut(f"ncnn cannot run the network (its error {fault}).")
            found[name] = np.array(blob, np.float32)
        return found


def check_in_own_process(param: Path, weights: Path, size: Size) -> None:
    """Run the network once elsewhere. Raises LeftOut where that fails, however badly."""
    command = [sys.executable, "-m", "tools.phone.ncnn_session", str(param), str(weights), *map(str, size)]
    try:
        ended = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, timeout=TRIAL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise LeftOut(f"ncnn did not finish {param.name} within {TRIAL_SECONDS} s.") from None
    if ended.returncode:
        raise LeftOut(f"ncnn cannot run {param.name} (its process ended with {ended.returncode}).")


def _try(param: str, weights: str, width: str, height: str) -> None:
    gray = np.zeros((1, 3, int(height), int(width)), np.float32)
    answer = NcnnSession(Path(param), Path(weights), "NCHW", threads=1).run(gray)
    if answer.shape != gray.shape:
        raise LeftOut(f"ncnn answers with {answer.shape} to {gray.shape}.")


if __name__ == "__main__":
    _try(*sys.argv[1:])
