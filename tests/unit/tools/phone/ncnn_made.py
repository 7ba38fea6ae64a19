"""A little network through pnnx, into 8 bit, and run by ncnn."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.types import Tensor
from tests.unit.tools.phone.cards import card
from tests.unit.tools.phone.networks import little_network, noise, run
from tools.phone.ncnn_files import converted, read_layers
from tools.phone.ncnn_int8 import input_scales, quantized
from tools.phone.ncnn_session import NcnnSession

SIZE = (24, 16)


def made_int8(folder: Path) -> tuple[Tensor, Tensor, float]:
    """What ONNX Runtime and ncnn in 8 bit make of the same noise, and the largest number of the first."""
    model, tensor = little_network([1, 3, 16, 24]), noise(1, 3, 16, 24)
    with converted(model, card(), SIZE, half=False) as (param, weights):
        layers = read_layers(param)
        scales = input_scales(NcnnSession(param, weights, "NCHW", threads=1), layers, [tensor])
        text, content = quantized(layers, weights.read_bytes(), scales)
    files = folder / "int8.param", folder / "int8.bin"
    files[0].write_text(text)
    files[1].write_bytes(content)
    exact = run(model, tensor)
    return exact, NcnnSession(*files, "NCHW", threads=1).run(tensor), float(np.abs(exact).max())
