"""A PyTorch checkpoint to ONNX, proved on pictures before the file appears."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from torch import nn

from tools.checkpoints import load_network, read_checkpoint
from tools.command import ToolError, whole_file
from tools.convert.failure import CheckFailed
from tools.convert.words import agreement_line
from tools.export import Form, export
from tools.export_check import LARGEST_ERROR, Agreement, compare, first_difference
from tools.networks.families import FAMILIES, Family


def convert_pytorch(source: Path, target: Path, form: Form, *, family: str | None, tell: Callable[[str], None]) -> None:
    """Write ``target`` from the checkpoint ``source``; ``tell`` takes each line on what happened.

    family: a key of FAMILIES; None finds it. Raises ToolError for files and options that do not work out, CheckFailed
    where ONNX Runtime does not answer as PyTorch does; then there is no file.
    """
    weights = read_checkpoint(source)
    name, network = load_network(weights, family)
    _check_sides(form, FAMILIES[name])
    route = f", from {' > '.join(weights.route)}" if weights.route else ""
    tell(f"{source.name}: {FAMILIES[name].title}, {_parameters(network):,} parameters{route}")
    with whole_file(target) as part:
        export(network, part, form)
        size = part.stat().st_size / 1e6
        tell(f"{target.name}: opset {form.opset}, NCHW, {_shape(form)}, {size:.2f} MB")
        _prove(network, part, form, tell)


def _check_sides(form: Form, family: Family) -> None:
    for side in (form.height, form.width):
        if side is not None and side % family.multiple:
            raise ToolError(f"Sides of {family.title} are multiples of {family.multiple}, and {side} is not.")


def _parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def _shape(form: Form) -> str:
    return " x ".join(
        str(length) for length in (form.batch or "batch", 3, form.height or "height", form.width or "width")
    )


def _prove(network: nn.Module, part: Path, form: Form, tell: Callable[[str], None]) -> None:
    tell(f"against PyTorch, largest difference (at most {LARGEST_ERROR:g}):")
    failed: list[Agreement] = []
    for agreement in compare(network, part, form):
        line = agreement_line(agreement.width, agreement.height, agreement.pictures, agreement.error)
        tell(line if agreement.good else f"{line}  too much")
        failed += [] if agreement.good else [agreement]
    if failed:
        raise CheckFailed(_where(network, part, failed[0]))


def _where(network: nn.Module, part: Path, agreement: Agreement) -> str:
    layer = first_difference(network, part, agreement.worst)
    if layer is None:
        return "No layer differs that much by itself: the differences add up."
    values = f"{layer.error:.1e}, of values up to {layer.largest:.1e}"
    return f"The first layer that differs is {layer.module} (node {layer.node}): {values}."
