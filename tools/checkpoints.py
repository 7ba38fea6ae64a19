"""PyTorch checkpoints: read without running what is in them, unwrapped, and loaded into the network they fit."""

from __future__ import annotations

import argparse
import re
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from tools.command import MOST_BYTES, ToolError, check_file
from tools.networks.families import FAMILIES, Family, State

WRAPPERS: Final = (
    "generator_ema", "g_ema", "params_ema", "ema", "shadow", "generator", "netG", "net_g", "G", "params",
    "state_dict", "model_state_dict", "model", "weights",
)  # fmt: skip
"""Keys under which training scripts keep the generator, the better one first: averages before the last step."""

PREFIXES: Final = ("generator_ema.", "g_ema.", "ema.", "generator.", "netG.", "net_g.", "G.")
"""What is before the generator's keys where one state dict holds several networks, the better one first."""

SHELLS: Final = ("module.", "_orig_mod.", "model.")
"""What is before every key after DataParallel, ``torch.compile``, or a class around the network."""

# A checkpoint may hold itself; no training script nests deeper.
_DEEPEST: Final = 8

# Training scripts keep their options beside the weights; a Namespace holds values and runs nothing.
_HARMLESS: Final = [argparse.Namespace]

_BLOCKED: Final = re.compile(r"GLOBAL ([\w.]+) was not an allowed global")

_COUNTER: Final = "num_batches_tracked"


@dataclass(frozen=True, slots=True)
class Weights:
    """A state dict out of ``file``. route: what was opened and taken off on the way to it, for people."""

    file: Path
    state: State
    route: tuple[str, ...]


def read_checkpoint(path: Path) -> Weights:
    """The generator's weights in ``path``; on the CPU, as they were saved.

    Raises ToolError for what is no checkpoint, holds more than weights, or holds none.
    """
    check_file(path)
    _check_archive(path)
    state, route = _unwrapped(path, _content(path))
    return Weights(path, *_bare(state, route))


def load_network(weights: Weights, family: str | None = None) -> tuple[str, nn.Module]:
    """Name of the family (a key of FAMILIES) and the network with ``weights``, in evaluation mode, float32.

    family: None finds it by the keys. Raises ToolError that names the first key that differs.
    """
    name = family or family_of(weights)
    chosen = FAMILIES[name]
    state = chosen.translate(weights.state)
    network = chosen.build(state)
    _check_fit(weights.file, chosen, network.state_dict(), state)
    network.load_state_dict(_with_counters(network, state))
    return name, network.float().eval()


def family_of(weights: Weights) -> str:
    """The family whose mark the keys carry, else the one that shares most keys. Raises ToolError if none shares any."""
    for name, family in FAMILIES.items():
        if family.knows(weights.state):
            return name
    shared = {name: len(_keys_of(family) & weights.state.keys()) for name, family in FAMILIES.items()}
    nearest = max(shared, key=lambda name: shared[name])
    if shared[nearest]:
        return nearest
    keys, titles = ", ".join(list(weights.state)[:3]), ", ".join(family.title for family in FAMILIES.values())
    raise ToolError(f"{weights.file} is of no network known here ({titles}): its keys begin with {keys}.")


def _keys_of(family: Family) -> set[str]:
    return set(family.build({}).state_dict())


def _check_archive(path: Path) -> None:
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MOST_BYTES:
        raise ToolError(f"{path} unpacks to {size >> 20} MiB, and at most {MOST_BYTES >> 20} MiB are read.")


def _content(path: Path) -> Any:
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals(_HARMLESS):
            # They tell of TorchScript and of foreign pickles, which the errors tell too.
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True)
    # What a damaged file raises on its way through the unpickler has no common root but Exception.
    except Exception as error:
        raise ToolError(_why(path, str(error))) from error


def _why(path: Path, message: str) -> str:
    blocked = _BLOCKED.search(message)
    if blocked:
        return f"{path} holds {blocked[1]}, which is more than weights: save the generator's state_dict alone."
    if "TorchScript" in message:
        return f"{path} is a TorchScript program: convert the checkpoint that it was made from."
    return f"{path} is no PyTorch checkpoint, or a damaged one."


def _unwrapped(path: Path, content: Any) -> tuple[State, tuple[str, ...]]:
    """The innermost mapping of names to tensors, and the keys that led there."""
    route: list[str] = []
    for _ in range(_DEEPEST):
        if not isinstance(content, Mapping):
            break
        key = _next_key(content)
        if key is None:
            return _tensors(path, content), tuple(route)
        route.append(key)
        content = content[key]
    raise ToolError(f"{path} holds no state_dict: {_kind(content)} is where one should be.")


def _next_key(content: Mapping[Any, Any]) -> str | None:
    inner = [key for key, value in content.items() if isinstance(value, Mapping) and isinstance(key, str)]
    known = next((key for key in WRAPPERS if key in inner), None)
    if known or any(isinstance(value, Tensor) for value in content.values()):
        return known
    return inner[0] if len(inner) == 1 else None


def _tensors(path: Path, content: Mapping[Any, Any]) -> State:
    state = {key: value for key, value in content.items() if isinstance(key, str) and isinstance(value, Tensor)}
    if not state:
        keys = ", ".join(str(key) for key in list(content)[:5]) or "nothing"
        raise ToolError(f"{path} holds no weights of a network; it holds {keys}.")
    return state


def _kind(content: Any) -> str:
    return f"a {type(content).__name__}"


def _bare(state: State, route: tuple[str, ...]) -> tuple[State, tuple[str, ...]]:
    """``state`` without what is before its keys; of several networks in it, the generator."""
    while True:
        prefix = _prefix(state)
        if prefix is None:
            return state, route
        state = {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
        route = (*route, prefix)


def _prefix(state: State) -> str | None:
    shell = next((prefix for prefix in SHELLS if all(key.startswith(prefix) for key in state)), None)
    return shell or next((prefix for prefix in PREFIXES if any(key.startswith(prefix) for key in state)), None)


def _check_fit(path: Path, family: Family, wanted: State, state: State) -> None:
    # Shapes first: a file of a few bytes can claim any, and looking at the values would need that much memory.
    for key, value in wanted.items():
        if key.endswith(_COUNTER):
            continue
        if key not in state:
            raise ToolError(f"{path} does not fit {family.title}: it has no {key}.")
        if state[key].shape != value.shape:
            shapes = f"{_shape(state[key])} in the file and {_shape(value)} in the network"
            raise ToolError(f"{path} does not fit {family.title}: {key} is {shapes}.")
    surplus = next((key for key in state if key not in wanted), None)
    if surplus:
        raise ToolError(f"{path} does not fit {family.title}, which has no {surplus}.")
    for key, value in state.items():
        _check_values(path, key, value)


def _shape(tensor: Tensor) -> str:
    return " x ".join(str(side) for side in tensor.shape) or "a single number"


def _check_values(path: Path, key: str, value: Tensor) -> None:
    if key.endswith(_COUNTER):
        return
    if value.is_meta or value.layout != torch.strided or not value.is_floating_point():
        raise ToolError(f"{path}: {key} is {value.dtype}, {value.layout}; weights are plain floating point numbers.")
    if not bool(value.isfinite().all()):
        raise ToolError(f"{path}: {key} holds infinities or what is no number; the training went wrong.")


def _with_counters(network: nn.Module, state: State) -> State:
    """``state`` and the batch counters that it may lack; nothing is counted when a network only runs."""
    counters = {key: value for key, value in network.state_dict().items() if key.endswith(_COUNTER)}
    return {**counters, **state}
