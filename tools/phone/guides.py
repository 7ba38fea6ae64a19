"""The pages of a bundle: its templates, filled in with the network's own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.inference.card import ModelCard
from tools.measures.scores import MEASURES
from tools.phone.manifest import Bundle, from_network, to_network
from tools.phone.parts import PhoneModel
from tools.phone.sizes import size_name
from tools.phone.threads import advice, advised_threads
from tools.phone.trial import Trial

TEMPLATES: Final = Path(__file__).with_name("guides")
PAGES: Final = ("README.md", "android.md", "ios.md")

DIGITS: Final = ".9g"
"""How numbers stand in code: nine digits tell any two numbers of 32 bit apart."""

_SHIFTS: Final = {"RGB": (16, 8, 0), "BGR": (0, 8, 16)}
"""Where each channel of the network lies in an Android color, 0xAARRGGBB."""

_OFFSETS: Final = {"RGB": (0, 1, 2), "BGR": (2, 1, 0)}
"""Which byte of a pixel of red, green, blue and alpha each channel of the network is."""


def write_pages(bundle: Bundle, root: Path) -> None:
    """Write PAGES into ``root``."""
    # Pages of Markdown and code: nothing in them is HTML, and escaping would break the code.
    environment = Environment(  # noqa: S701
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"kotlin": _kotlin, "swift": _swift}
    for page in PAGES:
        text = environment.get_template(page).render(**_facts(bundle))
        (root / page).write_text(text + "\n", encoding="utf-8")


def guided(models: Sequence[PhoneModel]) -> PhoneModel:
    """The model that the guides use: the first precision's smallest, in ONNX Runtime's format where there is one."""
    return next((model for model in models if model.format == "ort"), models[0])


def _facts(bundle: Bundle) -> dict[str, Any]:
    card, model = bundle.card, guided(bundle.models)
    (width, height), example = bundle.sizes[0], bundle.examples[0]
    return {
        "card": card,
        "bundle": bundle,
        "model": model.files[0].name,
        "format": model.format,
        "width": width,
        "height": height,
        "into": to_network(card),
        "back": from_network(card),
        "swift_offsets": list(_OFFSETS[card.channel_order]),
        "kotlin_shifts": ", ".join(map(str, _SHIFTS[card.channel_order])),
        "planar": card.layout == "NCHW",
        "example": example,
        "tolerance": f"{_one_level(card):.4f}",
        "same_ranges": card.input_range == card.output_range,
        "shape": ", ".join(map(str, example.shape)),
        "threads": max(2, advised_threads(bundle.curve)),
        "ort_version": version("onnxruntime"),
        "table": table(bundle.trials),
        "advice": advice(bundle.curve, bundle.processor, "ONNX Runtime"),
        "sizes": ", ".join(map(size_name, bundle.sizes)),
        "ncnn": [model for model in bundle.models if model.engine == "ncnn"],
        "openvino": [model for model in bundle.models if model.engine == "openvino"],
    }


def _kotlin(number: float) -> str:
    return f"({number:{DIGITS}}f)" if number < 0 else f"{number:{DIGITS}}f"


def _swift(number: float) -> str:
    return f"({number:{DIGITS}})" if number < 0 else f"{number:{DIGITS}}"


def _one_level(card: ModelCard) -> float:
    low, high = card.output_range
    return (high - low) / 255


def table(trials: Sequence[Trial]) -> str:
    """Markdown: every model at every size, its size on disk, what it is off by, and its times."""
    counts = sorted(trials[0].milliseconds) if trials else []
    titles = ["File", "Engine", "Size", "MB", "mean error", "largest", "SSIM", "banding"]
    titles += [f"ms, {count} thread{'s' if count > 1 else ''}" for count in counts]
    rows = [titles, ["---"] * 3 + ["---:"] * (len(titles) - 3), *(_row(trial, counts) for trial in trials)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(trial: Trial, counts: list[int]) -> list[str]:
    model = trial.model
    name = f"`{model.format}/{model.files[0].name}`"
    size = size_name(trial.size)
    errors = [MEASURES[key].shown(getattr(trial, pool)[key]) for key, pool in _SHOWN]
    times = [f"{trial.milliseconds[count]:.0f}" for count in counts]
    return [name, _ENGINES[model.engine], size, f"{model.bytes / 1e6:.2f}", *errors, *times]


_SHOWN: Final = (("mean_error", "mean"), ("max_error", "worst"), ("ssim", "mean"), ("banding", "worst"))
"""Measures in the table, each of the mean of the photos or of the worst of all pictures."""

_ENGINES: Final = {"onnxruntime": "ONNX Runtime", "ncnn": "ncnn", "openvino": "OpenVINO"}
