"""INT8 for ncnn: weights and inputs of its convolutions in 8 bit.

ncnn's own tools for this, ncnn2table and ncnn2int8, are programs in C++ that no Python package brings. What they write
is simple, so it is written here: for each convolution its weights as signed 8 bit, a scale for each output channel, and
a scale for its input (docs/how-to-use-and-FAQ/quantized-int8-inference.md of Tencent/ncnn; load_model in
src/layer/convolution.cpp). A scale is 127 over the largest value that keeps its place; what lies above is cut.

The first and the last convolution stay as they are: photo and picture have more than 8 bit to lose there. So do
depth-wise ones, which carry little work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from app.types import Tensor
from tools.phone.ncnn_param import (
    FLOAT16_TAG,
    INT8_TAG,
    Floats,
    Layer,
    param_text,
    read_weights,
    tagged,
)
from tools.phone.ncnn_session import NcnnSession
from tools.phone.parts import LeftOut

LEVELS: Final = 127
"""Steps to either side of zero; -128 is not used."""

SAMPLES: Final = 20_000
"""Values kept of each tensor and photo: with eight photos enough for the tail of one in 10 000."""

CANDIDATES: Final = np.linspace(0.3, 1, 36)
"""Shares of the largest value that are tried as the place to cut."""

_SCALED: Final = 2
_INT8_KEY: Final = 8


def quantized_layers(layers: Sequence[Layer]) -> list[Layer]:
    """The convolutions that turn to 8 bit. Raises LeftOut where there are none."""
    inner = [layer for layer in layers if layer.type == "Convolution"][1:-1]
    if not inner:
        raise LeftOut("The network has no inner convolutions that 8 bit would help.")
    return inner


def input_scales(session: NcnnSession, layers: Sequence[Layer], photos: Iterable[Tensor]) -> dict[str, float]:
    """By the name of each convolution, the scale of its input, found on ``photos`` (1, 3, H, W) in the network's range.

    session: of the network in 32 bit.
    """
    names = {layer.name: layer.inputs[0] for layer in quantized_layers(layers)}
    samples: dict[str, list[Floats]] = {blob: [] for blob in names.values()}
    for photo in photos:
        for blob, values in session.blobs(photo, list(samples)).items():
            samples[blob].append(_sample(values))
    cuts = {blob: best_cut(np.concatenate(values)) for blob, values in samples.items()}
    return {name: LEVELS / cuts[blob] for name, blob in names.items()}


def _sample(values: Floats) -> Floats:
    sizes = np.abs(values).ravel()
    # The largest of all is kept: it bounds the search.
    return np.append(sizes[:: max(1, sizes.size // SAMPLES)], sizes.max())


def best_cut(sizes: Floats) -> float:
    """The largest size that should keep its place: where the squares of rounding and of cutting are least together."""
    largest = float(sizes.max())
    if largest == 0:
        return 1.0
    errors = [float(np.square(_rounded(sizes, largest * share) - sizes).mean()) for share in CANDIDATES]
    return largest * float(CANDIDATES[int(np.argmin(errors))])


def _rounded(sizes: Floats, cut: float) -> Floats:
    step = np.float32(cut / LEVELS)
    return np.asarray(np.minimum(np.rint(sizes / step), LEVELS) * step, np.float32)


def quantized(layers: Sequence[Layer], weights: bytes, scales: Mapping[str, float]) -> tuple[str, bytes]:
    """The .param and .bin of the network with the convolutions named in ``scales`` in 8 bit, the rest in 16."""
    arrays = read_weights(layers, weights)
    content = b"".join(_stored(layer, parts, scales) for layer, parts in zip(layers, arrays, strict=True))
    lines = [_marked(layer) if layer.name in scales else layer for layer in layers]
    return param_text(lines), content


def _marked(layer: Layer) -> Layer:
    return replace(layer, params={**layer.params, _INT8_KEY: str(_SCALED)})


def _stored(layer: Layer, arrays: Sequence[tuple[str, Floats]], scales: Mapping[str, float]) -> bytes:
    if layer.name in scales:
        weights, *bias = (values for _, values in arrays)
        return _in_8_bit(weights.reshape(layer.number(0), -1), bias, scales[layer.name])
    stored = (
        tagged(FLOAT16_TAG, values.astype(np.float16)) if kind == "tagged" else values.tobytes()
        for kind, values in arrays
    )
    return b"".join(stored)


def _in_8_bit(weights: Floats, bias: Sequence[Floats], input_scale: float) -> bytes:
    largest = np.abs(weights).max(axis=1)
    scales = (LEVELS / np.where(largest > 0, largest, 1)).astype(np.float32)
    small = np.clip(np.rint(weights * scales[:, np.newaxis]), -LEVELS, LEVELS).astype(np.int8)
    rest = (*bias, scales, np.array([input_scale], np.float32))
    return tagged(INT8_TAG, small) + b"".join(values.tobytes() for values in rest)
