"""Dynamic quantisation, for comparison: weights in 8 bit, the ranges of activations found anew in every run.

No photos are needed, and for convolutional networks that is all there is to say for it: ranges are sought over whole
feature maps at each layer, and ConvInteger is slow (onnxruntime#12854, #6732).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import onnx
from onnx import ModelProto
from onnxruntime.quantization import QuantType, quantize_dynamic

from tools.shrink.graph import copy_of, outer_nodes
from tools.shrink.reader import quiet

OPERATORS: Final = ("Conv", "Gemm", "MatMul")


def write_dynamic(model: ModelProto, path: Path) -> None:
    """Write ``model`` dynamically quantised, its first and last layers FP32. Nodes must have names."""
    source = path.with_suffix(".source.onnx")
    onnx.save(copy_of(model), source)
    try:
        with quiet():
            quantize_dynamic(
                source,
                path,
                op_types_to_quantize=list(OPERATORS),
                # ConvInteger takes no other weights (onnxruntime#15888), and one zero point for all channels.
                weight_type=QuantType.QUInt8,
                nodes_to_exclude=sorted(outer_nodes(model)),
            )
    finally:
        source.unlink(missing_ok=True)
