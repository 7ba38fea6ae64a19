"""OrtSession: a network loaded into ONNX Runtime. The only file that imports it.

Sessions and their thread pools do not survive a fork (onnxruntime#9800): build one in the process that runs it.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from app.errors import ModelError
from app.inference.card import ModelCard
from app.types import AnyArray, Tensor

# Since 1.29 ONNX Runtime reports its use to its maker and keeps an identifier of the device under the home folder
# (onnxruntime#27379). The switch is read once, while the library loads.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime as ort

PROVIDERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cpu": "CPUExecutionProvider",
        "openvino": "OpenVINOExecutionProvider",
        "cuda": "CUDAExecutionProvider",
        "xnnpack": "XnnpackExecutionProvider",
        "coreml": "CoreMLExecutionProvider",
    }
)
"""ONNX Runtime's names of the providers a setting may name."""

# Only what ends the process is worth a line: everything else reaches the caller as an exception.
_FATAL_ONLY: Final = 4

_FLOAT: Final = "tensor(float)"

# functools.cache lets two threads that come together both in.
_ARENA_LOCK: Final = threading.Lock()

_SAME_AS_REQUESTED: Final = 1
"""kSameAsRequested of ONNX Runtime's ArenaExtendStrategy."""

_NEWER_IR: Final = re.compile(r"IR version: (\d+), max supported IR version: (\d+)")


class OrtSession:
    """One network, ready to run. ``run`` may be called from several threads at once (onnxruntime#114).

    path: the weight file. card: what the network says of itself; names, ranks and types are checked against it.
    threads: of one run, the calling thread among them. provider: a key of PROVIDERS. Raises ModelError where this
    ONNX Runtime lacks the provider, cannot read the file, or the file is not the network of the card.
    """

    def __init__(self, path: Path, card: ModelCard, *, threads: int, provider: str = "cpu") -> None:
        providers = _providers(provider, threads)
        _share_arena()
        try:
            self._session = ort.InferenceSession(str(path), session_options(threads, provider), providers=providers)
        # ONNX Runtime's exceptions have no common root but Exception.
        except Exception as error:
            raise ModelError(f"Style {card.id}: {_why(path.name, str(error))}") from error
        _check(self._session.get_inputs(), "input", card.input_name, card)
        _check(self._session.get_outputs(), "output", card.output_name, card)
        self._input, self._outputs = card.input_name, [card.output_name]
        ends = (*self._session.get_inputs(), *self._session.get_outputs())
        own = [end for end in ends if end.name in (card.input_name, card.output_name)]
        self._least = _least_picture(card)
        self.takes_batches: bool = all(_length(end.shape[0]) is None for end in own)
        """Whether a run may have several pictures: not where the file fixes their number."""

    def run(self, tensor: Tensor) -> Tensor:
        """One forward pass: float32 in and out, layout and ranges as on the card. Equal input, equal output."""
        output: Tensor = self._session.run(self._outputs, {self._input: tensor})[0]
        return output

    def release(self) -> None:
        """Give back the memory kept for next runs, of any network; they will take a few milliseconds more for it.

        Costs a run of the least picture. Runs that are under way meanwhile keep what they need, and ONNX Runtime keeps
        what the very first run took, which therefore should be a small one.
        """
        self._session.run(self._outputs, {self._input: self._least}, _shrinking())


@dataclass(frozen=True, slots=True)
class TensorPort:
    """An input or output of a network as its file describes it.

    type: ONNX Runtime's name, e.g. ``tensor(float)``. shape: a number for a fixed axis, None for any length.
    """

    name: str
    type: str
    shape: tuple[int | None, ...]

    @property
    def is_float32(self) -> bool:
        """Whether it holds what styles are made of."""
        return self.type == _FLOAT


class BareSession:
    """A network of which nothing is known yet: for looking at one before it has a card.

    threads: of one run. name: what an error calls the file; default, its own. Raises ModelError where ONNX Runtime
    cannot read it.
    """

    def __init__(self, path: Path, *, threads: int, name: str = "") -> None:
        try:
            options, providers = session_options(threads), _providers("cpu", threads)
            _share_arena()
            self._session = ort.InferenceSession(str(path), options, providers=providers)
        # ONNX Runtime's exceptions have no common root but Exception.
        except Exception as error:
            raise ModelError(_why(name or path.name, str(error))) from error
        self.inputs = _ports(self._session.get_inputs())
        self.outputs = _ports(self._session.get_outputs())

    def run(self, tensor: Tensor, output: str) -> AnyArray | None:
        """What ``output`` holds after one pass of ``tensor`` through the first input; None where it does not run."""
        try:
            answer = self._session.run([output], {self.inputs[0].name: tensor})[0]
        except Exception:
            return None
        return answer if isinstance(answer, np.ndarray) else None


def _ports(nodes: Sequence[Any]) -> tuple[TensorPort, ...]:
    return tuple(TensorPort(node.name, node.type, tuple(map(_length, node.shape or ()))) for node in nodes)


def _length(axis: object) -> int | None:
    # A name, None or a number below 1 stands for any length.
    return axis if isinstance(axis, int) and axis > 0 else None


def session_options(threads: int, provider: str = "cpu") -> ort.SessionOptions:
    """How sessions run here; docs/performance/session.md has what was measured."""
    options = ort.SessionOptions()
    # XNNPACK brings threads of its own: ONNX Runtime's would fight them for the same cores.
    options.intra_op_num_threads = 1 if provider == "xnnpack" else threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = _FATAL_ONLY
    # Patterns are kept for every shape met, and photos come in every shape (onnxruntime#11627).
    options.enable_mem_pattern = False
    # What one network's run leaves, another's takes: with an arena each, every network keeps the most it ever took.
    options.add_session_config_entry("session.use_env_allocators", "1")
    # Weights stay: amid what comes and goes they would keep it from being given back, and from being used in one piece.
    options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
    # Waiting threads would burn their cores between requests.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # On arm64 KleidiAI costs three to four times the memory where shapes change (onnxruntime#29538).
    options.add_session_config_entry("mlas.disable_kleidiai", "1")
    return options


def _share_arena() -> None:
    """See to it that there is the arena that all sessions of this process share; before the first of them."""
    with _ARENA_LOCK:
        _make_arena()


@cache
def _make_arena() -> None:
    # ONNX Runtime takes one, and says no to a second.
    where = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    # As much as it takes, and no larger steps than are asked for; -1 leaves the rest to ONNX Runtime.
    shape = {"max_mem": 0, "arena_extend_strategy": _SAME_AS_REQUESTED}
    shape |= {"initial_chunk_size_bytes": -1, "max_dead_bytes_per_chunk": -1}
    ort.create_and_register_allocator(where, ort.OrtArenaCfg(shape))


def _shrinking() -> ort.RunOptions:
    """Options of a run after which ONNX Runtime gives back all memory of its arena that no run uses."""
    options = ort.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options


def _least_picture(card: ModelCard) -> Tensor:
    width, height = card.sizes.padded(1, 1)
    sides = {"N": 1, "C": 3, "H": height, "W": width}
    return np.zeros([sides[axis] for axis in card.layout], np.float32)


def _providers(name: str, threads: int) -> list[tuple[str, dict[str, Any]]]:
    available = ort.get_available_providers()
    if name not in PROVIDERS or PROVIDERS[name] not in available:
        usable = ", ".join(short for short, long in PROVIDERS.items() if long in available)
        raise ModelError(f"This ONNX Runtime has no provider {name}. It has: {usable}.")
    cpu: tuple[str, dict[str, Any]] = (PROVIDERS["cpu"], {})
    if name == "cpu":
        return [cpu]
    # Operators that the provider lacks run on the CPU.
    own = {"intra_op_num_threads": str(threads)} if name == "xnnpack" else {}
    return [(PROVIDERS[name], own), cpu]


def _why(name: str, message: str) -> str:
    newer = _NEWER_IR.search(message)
    if newer:
        return (
            f"{name} has ONNX IR version {newer[1]} and this ONNX Runtime reads up to {newer[2]}: "
            "update onnxruntime or export the network for an older version."
        )
    return f"ONNX Runtime cannot load {name}: it is damaged or uses operators that this version lacks."


def _check(nodes: list[Any], side: str, name: str, card: ModelCard) -> None:
    node = next((node for node in nodes if node.name == name), None)
    if node is None:
        names = ", ".join(node.name for node in nodes)
        raise ModelError(f"Style {card.id}: the network has no {side} called {name}. It has: {names}.")
    if node.type != _FLOAT:
        raise ModelError(f"Style {card.id}: {side} {name} is {node.type}, where {_FLOAT} is needed.")
    if len(node.shape) != len(card.layout):
        raise ModelError(f"Style {card.id}: {side} {name} has {len(node.shape)} axes, and {card.layout} has 4.")
    channels = node.shape[card.layout.index("C")]
    if isinstance(channels, int) and channels != 3:
        raise ModelError(f"Style {card.id}: {side} {name} has {channels} channels where {card.layout} puts 3.")
