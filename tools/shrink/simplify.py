"""Simplify: constants folded, what does nothing removed, by onnxslim; kept only where the answers stay the same.

Why onnxslim: docs/tools/optimize.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from onnx import ModelProto

from app.inference.card import ModelCard
from app.inference.session import OrtSession
from app.types import Tensor
from tools.shrink.graph import copy_of, without_notes

SAME: Final = 1e-5
"""Largest difference of any output number, of a range of about 2, that counts as none: rounding of float32."""


def simplified(model: ModelProto) -> ModelProto:
    """A copy with fewer nodes and no notes. Raises ValueError where onnxslim cannot do it, or is not there."""
    try:
        # Here, so that all else works where it is not installed.
        import onnxslim
    except ModuleNotFoundError as error:
        raise ValueError("onnxslim is not installed (pip install -r requirements-tools.txt)") from error
    try:
        smaller = onnxslim.slim(copy_of(model))
    # It has no errors of its own: whatever its parts raise comes out.
    except Exception as error:
        raise ValueError(f"onnxslim fails: {error}") from error
    return without_notes(smaller)


def largest_difference(first: Path, second: Path, card: ModelCard, tensors: Sequence[Tensor], threads: int) -> float:
    """The largest absolute difference between the two files' outputs on ``tensors``; NaN where either has one."""
    sessions = [OrtSession(path, card, threads=threads) for path in (first, second)]
    gaps = []
    for tensor in tensors:
        wanted, drawn = (session.run(tensor) for session in sessions)
        gaps.append(float(np.abs(wanted - drawn).max()))
    return float(np.max(gaps))
