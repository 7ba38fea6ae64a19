"""A PyTorch network written as ONNX, input ``input`` and output ``output``, NCHW float32."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import onnx
import torch
from torch import nn

from tools.command import ToolError
from tools.onnx_names import INPUT, OUTPUT

OPSETS: Final = range(12, 19)
"""Versions of the ONNX operators that can be asked for; 18 included."""

_AXES: Final = {0: "batch", 2: "height", 3: "width"}

# Any size does for tracing; a small one is quick, and every family here takes it.
_TRACED_SIDE: Final = 64


@dataclass(frozen=True, slots=True)
class Form:
    """What the exported network takes. batch, height, width: None leaves each to whoever runs it. opset: of OPSETS."""

    opset: int = 17
    batch: int | None = None
    height: int | None = None
    width: int | None = None

    def free_axes(self) -> dict[int, str]:
        """Axes of any length, by their place in NCHW, and the names they get."""
        lengths = {0: self.batch, 2: self.height, 3: self.width}
        return {axis: name for axis, name in _AXES.items() if lengths[axis] is None}

    def traced_shape(self) -> tuple[int, int, int, int]:
        """A shape of this form: (batch, 3, height, width)."""
        return (self.batch or 1, 3, self.height or _TRACED_SIDE, self.width or _TRACED_SIDE)


def export(network: nn.Module, path: Path, form: Form) -> None:
    """Write ``network``, in evaluation mode, to ``path`` and let onnx check the file.

    By the TorchScript exporter: the newer one (torch 2.13) writes opset 18 at the least, cannot bring reflecting pads
    down to 17, and takes twenty times as long. Raises ToolError for an opset outside OPSETS.
    """
    if form.opset not in OPSETS:
        raise ToolError(f"Opset {form.opset} cannot be written: {OPSETS.start} to {OPSETS.stop - 1} can.")
    axes = form.free_axes()
    with warnings.catch_warnings(), torch.no_grad():
        # On its age, on shapes that are checked while tracing, on constants it leaves unfolded. The result is checked.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network.eval(),
            (torch.zeros(form.traced_shape()),),
            str(path),
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_axes={INPUT: axes, OUTPUT: axes},
            opset_version=form.opset,
            dynamo=False,
        )
    onnx.checker.check_model(onnx.load(path), full_check=True)
