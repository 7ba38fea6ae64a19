"""Whether an exported network answers as PyTorch does, and if not, from which layer on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import onnx
import torch
from torch import nn

from app.inference.session import session_options
from app.types import Tensor
from tools.export import Form
from tools.onnx_names import INPUT, OUTPUT
from tools.probes import as_tensor, flat, probes

# After session_options, whose module keeps ONNX Runtime from reporting home.
import onnxruntime as ort  # isort: skip

LARGEST_ERROR: Final = 1e-4
"""In FP32, of values in [-1, 1]: a hundredth of one of 255 steps."""

SIZES: Final = ((256, 256), (200, 104), (384, 512))
"""Width and height where the sides are free: a square, a strip, a portrait; multiples of 8."""

# A size is tried on as many pictures as have this many pixels, but on two at the least.
_PIXELS: Final = 1 << 19

_THREADS: Final = 2

Layers: TypeAlias = Mapping[str, Tensor]
"""Name of a module to what it answers."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """At one size: number of pictures, the largest absolute difference, and the pictures where it was."""

    width: int
    height: int
    pictures: int
    error: float
    worst: Tensor

    @property
    def good(self) -> bool:
        """Within LARGEST_ERROR; differences that are no numbers are not."""
        return self.error <= LARGEST_ERROR


@dataclass(frozen=True, slots=True)
class Difference:
    """The first layer that differs: the module's name, the ONNX node's, the error, and the largest value there."""

    module: str
    node: str
    error: float
    largest: float


def compare(network: nn.Module, path: Path, form: Form) -> Iterator[Agreement]:
    """``path`` against ``network`` at each size that ``form`` leaves."""
    session = _session(path.read_bytes())
    for width, height in _sizes(form):
        pairs = [(batch, _gap(network, session, batch)) for batch in _batches(form, width, height)]
        count = sum(len(batch) for batch, _ in pairs)
        # NaN first: it is the largest of all errors, and max() would overlook it.
        worst, error = max(pairs, key=lambda pair: (np.isnan(pair[1]), pair[1]))
        yield Agreement(width, height, count, error, worst)


def _sizes(form: Form) -> list[tuple[int, int]]:
    sizes = [(form.width or width, form.height or height) for width, height in SIZES]
    return list(dict.fromkeys(sizes))


def _batches(form: Form, width: int, height: int) -> Iterator[Tensor]:
    """The pictures one by one; where the batch is free, the last two together."""
    count = max(2, _PIXELS // (width * height))
    tensor = np.concatenate([as_tensor(probes(width, height)[:count]), flat(width, height)])
    size = form.batch or 1
    starts = range(0, len(tensor) - (1 if form.batch is None else 0), size)
    for start in starts:
        last = form.batch is None and start == starts[-1]
        # Where the batch is larger than what is left, it is filled from the front.
        places = np.arange(start, start + (2 if last else size)) % len(tensor)
        yield tensor[places]


def _gap(network: nn.Module, session: ort.InferenceSession, batch: Tensor) -> float:
    with torch.no_grad():
        expected = network(torch.from_numpy(batch)).numpy()
    answer = session.run([OUTPUT], {INPUT: batch})[0]
    return float(np.abs(answer - expected).max())


def _session(model: bytes) -> ort.InferenceSession:
    return ort.InferenceSession(model, session_options(_THREADS), providers=["CPUExecutionProvider"])


def first_difference(network: nn.Module, path: Path, batch: Tensor) -> Difference | None:
    """The first layer, in the order of running, whose answer to ``batch`` is off by more than LARGEST_ERROR.

    The error is taken relative to the layer's largest value where that is above 1. None: no layer on its own.
    """
    model = onnx.load(path)
    ends = _ends(model.graph)
    expected = {name: value for name, value in _module_answers(network, batch).items() if name in ends}
    answers = _node_answers(model, [ends[name].output[0] for name in expected], batch)
    for (name, value), answer in zip(expected.items(), answers, strict=True):
        error, largest = float(np.abs(answer - value).max()), float(np.abs(value).max())
        if not error <= LARGEST_ERROR * max(1.0, largest):
            return Difference(name, ends[name].name, error, largest)
    return None


def _module_answers(network: nn.Module, batch: Tensor) -> Layers:
    answers: dict[str, Tensor] = {}

    def keeper(name: str) -> object:
        def keep(_module: nn.Module, _inputs: object, output: torch.Tensor) -> None:
            answers.setdefault(name, output.detach().numpy().copy())

        return keep

    hooks = [module.register_forward_hook(keeper(name)) for name, module in network.named_modules() if name]
    try:
        with torch.no_grad():
            network(torch.from_numpy(batch))
    finally:
        for hook in hooks:
            hook.remove()
    return answers


def _ends(graph: onnx.GraphProto) -> dict[str, onnx.NodeProto]:
    """The last node of each module: the one that gives its answer."""
    return {module: node for node in graph.node if (module := _module_of(node.name))}


def _module_of(node: str) -> str:
    """Module in which a node was traced: ``/block_a/block_a.0/block_a.0.1/Conv`` is of ``block_a.0.1``.

    Children of a Sequential carry its name before their number, others their own name alone.
    """
    path, before = "", ""
    for scope in node.split("/")[1:-1]:
        number = scope.removeprefix(f"{before}.")
        path = f"{path}.{number}" if path else number
        before = scope
    return path


def _node_answers(model: onnx.ModelProto, names: list[str], batch: Tensor) -> list[Tensor]:
    known = {output.name for output in model.graph.output}
    extra = [onnx.helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(names) if name not in known]
    model.graph.output.extend(extra)
    answers: list[Tensor] = _session(model.SerializeToString()).run(names, {INPUT: batch})
    return answers
