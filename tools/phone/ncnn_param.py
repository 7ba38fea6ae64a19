"""ncnn's two files: .param, which lists the layers as text, and .bin, which holds their weights one after the other.

Formats: docs/developer-guide/param-and-model-file-structure.md and operation-param-weight-table.md of Tencent/ncnn.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tools.phone.parts import LeftOut

MAGIC: Final = "7767517"

FLOAT32_TAG: Final = struct.pack("<I", 0)
FLOAT16_TAG: Final = struct.pack("<I", 0x01306B47)
INT8_TAG: Final = struct.pack("<I", 0x000D4B38)
"""What stands before the weights of a layer and says their type; biases and scales are float32 without one."""

Floats: TypeAlias = npt.NDArray[np.float32]
Kind: TypeAlias = Literal["tagged", "plain"]

_ALIGNMENT: Final = 4


@dataclass(frozen=True, slots=True)
class Layer:
    """A line of a .param file. params: by number, as text."""

    type: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    params: Mapping[int, str]

    def number(self, key: int, default: int = 0) -> int:
        """A parameter that is a whole number."""
        return int(self.params.get(key, default))

    def __str__(self) -> str:
        counts = (str(len(self.inputs)), str(len(self.outputs)))
        params = (f"{key}={value}" for key, value in self.params.items())
        return " ".join((self.type, self.name, *counts, *self.inputs, *self.outputs, *params))


def parse_param(text: str) -> list[Layer]:
    """The layers of a .param file, in their order. Raises ValueError for another file."""
    lines = text.splitlines()
    if lines[:1] != [MAGIC]:
        raise ValueError("this is no ncnn .param file")
    return [_layer(line.split()) for line in lines[2:] if line.strip()]


def _layer(words: list[str]) -> Layer:
    inputs, outputs = int(words[2]), int(words[3])
    first, last = 4 + inputs, 4 + inputs + outputs
    params = dict(word.split("=", 1) for word in words[last:])
    return Layer(
        words[0],
        words[1],
        tuple(words[4:first]),
        tuple(words[first:last]),
        {int(key): value for key, value in params.items()},
    )


def param_text(layers: Sequence[Layer]) -> str:
    """The .param file of ``layers``."""
    blobs = sum(len(layer.outputs) for layer in layers)
    return "".join(f"{line}\n" for line in (MAGIC, f"{len(layers)} {blobs}", *layers))


def _convolution(layer: Layer) -> list[tuple[Kind, int]]:
    return [("tagged", layer.number(6)), ("plain", layer.number(0) * layer.number(5))]


def _affine(count_key: int, affine_key: int, arrays: int) -> Callable[[Layer], list[tuple[Kind, int]]]:
    return lambda layer: [("plain", layer.number(count_key) * layer.number(affine_key, 1))] * arrays


_WEIGHTS: Final[Mapping[str, Callable[[Layer], list[tuple[Kind, int]]]]] = {
    "Convolution": _convolution,
    "ConvolutionDepthWise": _convolution,
    "Deconvolution": _convolution,
    "DeconvolutionDepthWise": _convolution,
    "InnerProduct": lambda layer: [("tagged", layer.number(2)), ("plain", layer.number(0) * layer.number(1))],
    "BatchNorm": lambda layer: [("plain", layer.number(0))] * 4,
    "Scale": lambda layer: [("plain", layer.number(0)), ("plain", layer.number(0) * layer.number(1))],
    "PReLU": lambda layer: [("plain", layer.number(0))],
    "InstanceNorm": _affine(0, 2, 2),
    "GroupNorm": _affine(1, 3, 2),
    "LayerNorm": _affine(0, 2, 2),
    "MemoryData": lambda layer: [("plain", _volume(layer))],
}
"""Arrays of weights of each type of layer; a type that is not here has none."""


def _volume(layer: Layer) -> int:
    return layer.number(0) * max(layer.number(1), 1) * max(layer.number(11), 1) * max(layer.number(2), 1)


def read_weights(layers: Sequence[Layer], content: bytes) -> list[list[tuple[Kind, Floats]]]:
    """The arrays of each layer in a .bin file of float32 or float16 weights, as float32.

    Raises LeftOut where the file is not of these layers.
    """
    reader = _Reader(content)
    arrays = [
        [(kind, reader.take(kind, count)) for kind, count in _WEIGHTS.get(layer.type, _nothing)(layer) if count]
        for layer in layers
    ]
    if reader.position != len(content):
        raise LeftOut("pnnx wrote layers whose weights cannot be told apart.")
    return arrays


def _nothing(layer: Layer) -> list[tuple[Kind, int]]:
    return []


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self.position = 0

    def take(self, kind: Kind, count: int) -> Floats:
        tag = self._bytes(4) if kind == "tagged" else FLOAT32_TAG
        if tag not in (FLOAT32_TAG, FLOAT16_TAG):
            raise LeftOut("pnnx wrote weights of a type that is not known here.")
        half = tag == FLOAT16_TAG
        values = np.frombuffer(self._bytes(count * (2 if half else 4)), np.float16 if half else np.float32)
        if half:
            self.position += -2 * count % _ALIGNMENT
        return values.astype(np.float32)

    def _bytes(self, count: int) -> bytes:
        piece = self._content[self.position : self.position + count]
        if len(piece) != count:
            raise LeftOut("pnnx wrote fewer weights than its layers need.")
        self.position += count
        return piece


def tagged(tag: bytes, values: npt.NDArray[np.generic]) -> bytes:
    """``values`` as they stand in a .bin file, filled up to four bytes."""
    content = values.tobytes()
    return tag + content + bytes(-len(content) % _ALIGNMENT)
