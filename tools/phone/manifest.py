"""model.json: everything an app must know of a bundle, as data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from app.inference.card import ModelCard
from tools.phone.examples import Example
from tools.phone.ort_format import OPERATORS_FILE
from tools.phone.parts import PhoneModel
from tools.phone.sizes import Size
from tools.phone.threads import advised_threads
from tools.phone.trial import Trial

FORMAT: Final = 1
"""Version of model.json's own layout."""

MADE_WITH: Final = ("onnx", "onnxruntime", "pnnx", "ncnn", "openvino")


@dataclass(frozen=True, slots=True)
class Linear:
    """number = level * scale + offset: from a channel's level (0 to 255) to the network's number, or back."""

    scale: float
    offset: float


def to_network(card: ModelCard) -> Linear:
    """From levels to the numbers the network takes."""
    low, high = card.input_range
    return Linear((high - low) / 255, low)


def from_network(card: ModelCard) -> Linear:
    """From the numbers the network gives to levels, still to be rounded and cut to 0 to 255."""
    low, high = card.output_range
    return Linear(255 / (high - low), -low * 255 / (high - low))


@dataclass(frozen=True, slots=True)
class Bundle:
    """All that is in one. curve: milliseconds by threads of the file that the guides use."""

    card: ModelCard
    sizes: Sequence[Size]
    models: Sequence[PhoneModel]
    trials: Sequence[Trial]
    examples: Sequence[Example]
    left_out: Sequence[str]
    curve: Mapping[int, float]
    processor: str


def manifest(bundle: Bundle, root: Path) -> dict[str, Any]:
    """What model.json holds. root: folder of the bundle, which paths are relative to."""
    card = bundle.card
    return {
        "format": FORMAT,
        "id": card.id,
        "title": dict(card.title),
        "kind": card.kind,
        "face_size": card.face_size if card.kind == "face" else None,
        "source": card.source,
        "licence": {"id": card.licence.id, "sentence": card.licence.sentence, "commercial_use": card.commercial},
        "input": _input(card),
        "output": _output(card),
        "sizes": [_size(size) for size in bundle.sizes],
        "reduced_build": _reduced_build(root),
        "models": [_model(model, bundle.trials, root) for model in bundle.models],
        "threads": _threads(bundle),
        "examples": [_example(example, root) for example in bundle.examples],
        "left_out": list(bundle.left_out),
        "made_with": _versions(),
    }


def _size(size: Size) -> dict[str, int]:
    return {"width": size[0], "height": size[1]}


def _port(name: str, card: ModelCard, values: tuple[float, float]) -> dict[str, Any]:
    axes = ["1", "3", "height", "width"] if card.layout == "NCHW" else ["1", "height", "width", "3"]
    return {
        "name": name,
        "type": "float32",
        "layout": card.layout,
        "shape": axes,
        "channels": card.channel_order,
        "range": list(values),
    }


def _input(card: ModelCard) -> dict[str, Any]:
    line = to_network(card)
    return _port(card.input_name, card, card.input_range) | {
        "formula": "number = level * scale + offset, level 0 to 255 (sRGB)",
        "scale": line.scale,
        "offset": line.offset,
        # Mat::substract_mean_normalize takes the mean from a level and multiplies by the norm.
        "ncnn": {"blob": "in0", "mean": [-line.offset / line.scale] * 3, "norm": [line.scale] * 3},
        "smaller_pictures": "continue the last column to the right and the last row downwards, cut the answer back",
    }


def _output(card: ModelCard) -> dict[str, Any]:
    line = from_network(card)
    return _port(card.output_name, card, card.output_range) | {
        "formula": "level = round(number * scale + offset), cut to 0 to 255; the photo's own where it is not finite",
        "scale": line.scale,
        "offset": line.offset,
        "ncnn": {"blob": "out0"},
    }


def _model(model: PhoneModel, trials: Sequence[Trial], root: Path) -> dict[str, Any]:
    return {
        "engine": model.engine,
        "format": model.format,
        "precision": model.precision,
        "size": None if model.size is None else _size(model.size),
        "files": [file_entry(path, root) for path in model.files],
        "measured": [_measured(trial) for trial in trials if trial.model is model],
    }


def file_entry(path: Path, root: Path) -> dict[str, Any]:
    """Where a file lies, how long it is, and its SHA-256."""
    content = path.read_bytes()
    name = path.relative_to(root).as_posix()
    return {"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _reduced_build(root: Path) -> dict[str, Any] | None:
    path = root / "ort" / OPERATORS_FILE
    return {"required_operators": file_entry(path, root)} if path.is_file() else None


def _measured(trial: Trial) -> dict[str, Any]:
    return _size(trial.size) | {
        "mean_error": round(trial.mean["mean_error"], 3),
        "max_error": round(trial.worst["max_error"]),
        "ssim": round(trial.mean["ssim"], 4),
        "banding": round(trial.worst["banding"], 2),
        "milliseconds": {str(count): round(taken, 1) for count, taken in trial.milliseconds.items()},
    }


def _threads(bundle: Bundle) -> dict[str, Any]:
    return {
        "measured_on": bundle.processor,
        "milliseconds": {str(count): round(taken, 1) for count, taken in bundle.curve.items()},
        "advised_there": advised_threads(bundle.curve),
    }


def _example(example: Example, root: Path) -> dict[str, Any]:
    files = {kind: getattr(example, kind) for kind in ("picture", "input", "output", "answer")}
    return {
        "name": example.name,
        **_size(example.size),
        "shape": list(example.shape),
        "type": "float32, least byte first",
        **{kind: file_entry(path, root) for kind, path in files.items()},
    }


def _versions() -> dict[str, str]:
    return {name: found for name in MADE_WITH if (found := _version(name))}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
