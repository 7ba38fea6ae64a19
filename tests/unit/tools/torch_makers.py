"""Small PyTorch networks and checkpoints for tests. Import it after ``pytest.importorskip("torch")``."""

from __future__ import annotations

from pathlib import Path

import onnx
import torch
from onnx import numpy_helper

from tools.networks.lite import Lite


def tiny_lite(seed: int = 0) -> Lite:
    """A Lite of 4, 8 and 8 channels with one block each, whose weights are no longer almost the identity."""
    torch.manual_seed(seed)
    network = Lite((4, 8, 8), (1, 1, 1))
    with torch.no_grad():
        for value in network.parameters():
            value.add_(torch.randn_like(value) * 0.1)
    return network.eval()


def weights_in(path: Path) -> dict[str, torch.Tensor]:
    """The initializers of an ONNX file, by name."""
    return {tensor.name: _tensor(tensor) for tensor in onnx.load(path).graph.initializer}


def _tensor(tensor: onnx.TensorProto) -> torch.Tensor:
    return torch.from_numpy(numpy_helper.to_array(tensor).copy())


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    """Values in [-1, 1], the same ones for the same seed."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1
