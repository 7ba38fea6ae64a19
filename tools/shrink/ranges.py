"""How far the numbers inside a network go."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import onnx
from onnx import ModelProto
from onnxruntime.quantization.calibrate import CalibrationMethod, create_calibrator

from app.types import Tensor
from tools.shrink.reader import Reader, quiet

Ranges: TypeAlias = Mapping[str, tuple[float, float]]
"""Lowest and highest number of each float tensor that nodes make or take, by name."""


def tensor_ranges(model: ModelProto, input_name: str, tensors: Iterable[Tensor]) -> Ranges:
    """What came up while the network ran on ``tensors``, one after the other."""
    with tempfile.TemporaryDirectory() as folder, quiet():
        path, augmented = Path(folder) / "model.onnx", Path(folder) / "augmented.onnx"
        onnx.save(model, path)
        calibrator = create_calibrator(path, None, augmented.as_posix(), CalibrationMethod.MinMax)
        for tensor in tensors:
            calibrator.collect_data(Reader(input_name, [tensor]))
        found = calibrator.compute_data()
    return {name: (float(data.lowest.min()), float(data.highest.max())) for name, data in found.items()}
