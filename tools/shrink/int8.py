"""INT8: static quantisation with QDQ nodes, by onnxruntime.quantization, for any choice of nodes that stay FP32.

Weights are symmetric and per output channel, activations per tensor. Photos run through the network once, for the
ranges of its tensors; those are kept in a file, so that trying another choice takes a moment.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from onnx import ModelProto
from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

from tools.shrink.graph import WEIGHTED, copy_of, normalizing_nodes, outer_nodes
from tools.shrink.reader import Reader, quiet

Method: TypeAlias = Literal["min-max", "entropy", "percentile"]
Activations: TypeAlias = Literal["uint8", "int8"]

METHODS: Final = get_args(Method)
ACTIVATIONS: Final = get_args(Activations)

_METHODS: Final = {
    "min-max": CalibrationMethod.MinMax,
    "entropy": CalibrationMethod.Entropy,
    "percentile": CalibrationMethod.Percentile,
}
_TYPES: Final = {"uint8": QuantType.QUInt8, "int8": QuantType.QInt8}

DECIDING: Final = WEIGHTED | {"Add", "Concat", "LeakyRelu"}
"""Operators that may turn to 8 bit: each of their nodes does, or stays FP32."""

FOLLOWING: Final = frozenset(
    {
        "AveragePool",
        "Clip",
        "Flatten",
        "MaxPool",
        "Pad",
        "Relu",
        "Reshape",
        "Resize",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
    }
)
"""Operators that only move numbers: they are in 8 bit where their neighbours are, and else stay as they are."""

# onnxruntime turns these to 8 bit wherever they are, even between nodes that stay FP32.
_UNASKED: Final = "Pad"

PERCENTILE: Final = 99.999
"""Share of a tensor's numbers, in %, that its range holds by the percentile method."""


@dataclass(frozen=True, slots=True)
class Int8Options:
    """method: how the range of a tensor is read off the photos.

    activations: uint8 suits x86, int8 suits ARM (ONNX Runtime's guide to quantisation). weight_bits: 7 for x86
    processors without VNNI, whose instruction for 8 bit adds two products in 16 bit and may saturate; 8 for others.
    """

    method: Method = "percentile"
    activations: Activations = "uint8"
    weight_bits: Literal[7, 8] = 7
    percentile: float = PERCENTILE

    @property
    def calibration(self) -> str:
        """How ranges are found, for people and for names of files."""
        return f"percentile-{self.percentile:g}" if self.method == "percentile" else self.method


def usual_ways(options: Int8Options) -> tuple[Int8Options, ...]:
    """``options`` with each of the calibrations that were best for one network or another (docs/tools/optimize.md)."""
    return (
        replace(options, method="percentile", percentile=PERCENTILE),
        replace(options, method="percentile", percentile=99.9999),
        replace(options, method="min-max"),
    )


def kept_always(model: ModelProto) -> frozenset[str]:
    """Names of the nodes that never turn to 8 bit: the first and last layers, and normalisation."""
    return outer_nodes(model) | normalizing_nodes(model)


def deciding_nodes(model: ModelProto) -> list[str]:
    """Names of the nodes that may turn to 8 bit or stay FP32, in the order of the graph."""
    kept = kept_always(model)
    return [node.name for node in model.graph.node if node.op_type in DECIDING and node.name not in kept]


class Quantizer:
    """``model`` in 8 bit. Its nodes must have names.

    ranges: the file that keeps the calibrated ranges. reader: the photos, of which one at a time is run; not touched
    where ``ranges`` is there.
    """

    def __init__(self, model: ModelProto, options: Int8Options, ranges: Path, reader: Reader) -> None:
        self.nodes = deciding_nodes(model)
        self._model = model
        self._options = options
        self._ranges = ranges
        self._reader = reader
        self._kept = kept_always(model)

    def write(self, path: Path, fp32: Collection[str]) -> None:
        """Write the network to ``path``, with all of ``nodes`` in 8 bit but those in ``fp32``."""
        with quiet():
            quantize_static(
                # A copy: quantize_static moves the weights of what it is given into files of its own.
                copy_of(self._model),
                path,
                self._reader,
                quant_format=QuantFormat.QDQ,
                op_types_to_quantize=sorted(DECIDING | FOLLOWING),
                per_channel=True,
                reduce_range=self._options.weight_bits == 7,
                activation_type=_TYPES[self._options.activations],
                weight_type=QuantType.QInt8,
                nodes_to_exclude=sorted(_with_pads(self._model, self._kept.union(fp32))),
                calibrate_method=_METHODS[self._options.method],
                extra_options=self._extra(),
                calibration_cache_path=self._ranges,
            )

    def _extra(self) -> dict[str, Any]:
        return {
            # One photo after the other: all inner tensors of all photos would not fit.
            "CalibStridedMinMax": 1,
            "CalibPercentile": self._options.percentile,
            "WeightSymmetric": True,
            "ActivationSymmetric": self._options.activations == "int8",
        }


def _with_pads(model: ModelProto, fp32: Collection[str]) -> frozenset[str]:
    """``fp32`` and the names of the Pad nodes that lead, over nodes which only move numbers, to none in 8 bit."""
    leads: dict[str, bool] = {}
    pads = set()
    for node in reversed(model.graph.node):
        after = any(leads.get(name, False) for name in node.output)
        eight = node.op_type in DECIDING and node.name not in fp32
        for name in node.input:
            leads[name] = leads.get(name, False) or eight or (after and node.op_type in FOLLOWING)
        if node.op_type == _UNASKED and not after:
            pads.add(node.name)
    return frozenset(pads.union(fp32))
