"""A network with no card yet, as a function of pictures; and which of its inputs and outputs are pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from app.inference.card import Layout
from app.inference.session import TensorPort
from app.library.findings import NoStyle
from app.types import AnyArray, Tensor

TRIAL_SIDES: Final = (64, 128, 256, 512)
"""Sides of a first picture, in px, for a network that states none: one of them suits every network known to us."""

_MOST_CHANNELS: Final = 16

_CHANNEL_AXIS: Final[dict[Layout, int]] = {"NCHW": 1, "NHWC": 3}


class BareNetwork(Protocol):
    """What ``inference.session.BareSession`` offers."""

    @property
    def inputs(self) -> Sequence[TensorPort]:
        """What it takes."""
        ...

    @property
    def outputs(self) -> Sequence[TensorPort]:
        """What it answers with."""
        ...

    def run(self, tensor: Tensor, output: str) -> AnyArray | None:
        """What ``output`` holds after one pass; None where it does not run."""
        ...


@dataclass(frozen=True, slots=True)
class Net:
    """A network from pictures to pictures.

    height, width: sides in px where they are fixed, else None. trial: (height, width) at which it ran.
    """

    session: BareNetwork
    layout: Layout
    input_name: str
    output_name: str
    height: int | None
    width: int | None
    trial: tuple[int, int]

    def run(self, picture: Tensor) -> Tensor | None:
        """(H, W, 3) float32 to (H, W, 3) float32, ranges as the network's; None where it does not run at H x W.

        A run whose answer has another size or numbers that are not finite counts as none.
        """
        answer = self.session.run(_as_tensor(picture, self.layout), self.output_name)
        if answer is None or answer.shape != _shape(self.layout, *picture.shape[:2]) or not np.isfinite(answer).all():
            return None
        return np.ascontiguousarray(answer[0].transpose(1, 2, 0) if self.layout == "NCHW" else answer[0])


def open_net(session: BareNetwork, *, layout: Layout | None = None, output_name: str | None = None) -> Net:
    """``session`` as a function of pictures. layout, output_name: as the owner says, where they do.

    Raises NoStyle, with the reason, where it is no network from one picture to another of the same size.
    """
    port = _only_input(session.inputs)
    layouts, outputs = _layouts(port, layout), _outputs(session.outputs, output_name)
    faults: list[str] = []
    for name in layouts:
        height, width = _sides(port, name)
        fit = _first_fit(session, name, _trials(height, width), outputs, faults)
        if fit is not None:
            return Net(session, name, port.name, fit[0], height, width, fit[1])
    raise NoStyle(faults[0] if faults else f"it did not run, at {_tried(port, layouts)}.")


def _first_fit(
    session: BareNetwork, layout: Layout, trials: Iterator[tuple[int, int]], outputs: list[str], faults: list[str]
) -> tuple[str, tuple[int, int]] | None:
    """The output that holds a picture, and the size at which it did; None, with ``faults`` added, where none does."""
    for trial in trials:
        tensor = _as_tensor(_trial_picture(*trial), layout)
        answers = {output: session.run(tensor, output) for output in outputs}
        ran = {output: answer for output, answer in answers.items() if answer is not None}
        for output, answer in ran.items():
            fault = _fault(answer, layout, trial)
            if fault is None:
                return output, trial
            faults.append(f"its output {output} {fault}")
        # Where it ran and drew no picture it will draw none at another size.
        if ran:
            return None
    return None


def _only_input(inputs: Sequence[TensorPort]) -> TensorPort:
    if len(inputs) != 1:
        names = ", ".join(port.name for port in inputs) or "none"
        raise NoStyle(f"it has {len(inputs)} inputs ({names}); a style has one, a picture.")
    port = inputs[0]
    if port.type == "tensor(float16)":
        raise NoStyle("its input is float16: export it with float32 in and out (weights may stay float16).")
    if not port.is_float32:
        raise NoStyle(f"its input is {port.type}; a style takes float32.")
    if len(port.shape) != 4:
        raise NoStyle(f"its input has {len(port.shape)} axes ({shape_text(port.shape)}); a picture has 4.")
    if port.shape[0] not in (None, 1):
        raise NoStyle(f"it takes {port.shape[0]} pictures at once; a style takes one.")
    return port


def _layouts(port: TensorPort, wanted: Layout | None) -> list[Layout]:
    if wanted is not None:
        return [wanted]
    sure: list[Layout] = [name for name, axis in _CHANNEL_AXIS.items() if port.shape[axis] == 3]
    possible: list[Layout] = sure or [name for name in _CHANNEL_AXIS if _may_be(port, name)]
    if not possible:
        raise NoStyle(f"its input is {shape_text(port.shape)}; a colour picture has 3 channels.")
    return possible


def _may_be(port: TensorPort, layout: Layout) -> bool:
    # An axis as short as a pixel's is no side.
    sides = _sides(port, layout)
    return port.shape[_CHANNEL_AXIS[layout]] is None and all(side is None or side > _MOST_CHANNELS for side in sides)


def _outputs(outputs: Sequence[TensorPort], wanted: str | None) -> list[str]:
    if wanted is not None:
        if wanted not in [port.name for port in outputs]:
            raise NoStyle(f"it has no output {wanted}; it has {', '.join(port.name for port in outputs)}.")
        return [wanted]
    names = [port.name for port in outputs if port.is_float32]
    if not names:
        raise NoStyle(f"its output is {', '.join(port.type for port in outputs)}; a style answers in float32.")
    return names


def _sides(port: TensorPort, layout: Layout) -> tuple[int | None, int | None]:
    first = 2 if layout == "NCHW" else 1
    height, width = port.shape[first : first + 2]
    return height, width


def _trials(height: int | None, width: int | None) -> Iterator[tuple[int, int]]:
    if height is not None and width is not None:
        yield height, width
    elif height is not None or width is not None:
        side = height or width or 0
        yield side, side
    else:
        # The height twice the width tells the two apart in the answer.
        yield from ((2 * side, side) for side in TRIAL_SIDES)
        yield from ((side, side) for side in TRIAL_SIDES)


def _trial_picture(height: int, width: int) -> Tensor:
    across = np.linspace(0, 1, width, dtype=np.float32)
    down = np.linspace(0, 1, height, dtype=np.float32)[:, np.newaxis]
    return np.stack([across + 0 * down, down + 0 * across, across * down], axis=2)


def _fault(answer: AnyArray, layout: Layout, trial: tuple[int, int]) -> str | None:
    wanted = _shape(layout, *trial)
    if answer.shape == wanted:
        return None
    shape = shape_text(answer.shape)
    if answer.ndim != 4:
        return f"is {shape}, not a picture: it may classify or detect, but it does not draw."
    channels, first = answer.shape[_CHANNEL_AXIS[layout]], 2 if layout == "NCHW" else 1
    if channels != 3:
        return f"has {channels} channels where {layout} puts 3 ({shape}): it answers with something else than colours."
    return (
        f"is {answer.shape[first]} x {answer.shape[first + 1]} px for a picture of {trial[0]} x {trial[1]} px: "
        "a style keeps the size."
    )


def _tried(port: TensorPort, layouts: Sequence[Layout]) -> str:
    sides = [f"{height} x {width}" for height, width in _trials(*_sides(port, layouts[0]))]
    return f"{', '.join(sides)} px"


def shape_text(shape: Sequence[int | None]) -> str:
    """``1 x 3 x any x any``."""
    return " x ".join("any" if axis is None else str(axis) for axis in shape) or "a single number"


def _shape(layout: Layout, height: int, width: int) -> tuple[int, int, int, int]:
    return (1, 3, height, width) if layout == "NCHW" else (1, height, width, 3)


def _as_tensor(picture: Tensor, layout: Layout) -> Tensor:
    order = picture.transpose(2, 0, 1) if layout == "NCHW" else picture
    return np.ascontiguousarray(order, np.float32)[np.newaxis]
