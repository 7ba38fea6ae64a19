"""A network as a function of pictures, and which answers count as none. Networks here are functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from app.inference.session import TensorPort
from app.library.findings import NoStyle
from app.library.net import open_net
from app.types import AnyArray, Tensor

FLOAT = "tensor(float)"


@dataclass
class Fake:
    """Answers to a tensor as ``answer`` does."""

    answer: Callable[[Tensor], AnyArray | None]
    shape: tuple[int | None, ...] = (1, 3, None, None)
    output_type: str = FLOAT

    @property
    def inputs(self) -> list[TensorPort]:
        return [TensorPort("in", FLOAT, self.shape)]

    @property
    def outputs(self) -> list[TensorPort]:
        return [TensorPort("out", self.output_type, self.shape)]

    def run(self, tensor: Tensor, output: str) -> AnyArray | None:
        return self.answer(tensor)


def picture(height: int = 8, width: int = 16) -> Tensor:
    return np.random.default_rng(0).uniform(0, 1, (height, width, 3)).astype(np.float32)


@pytest.mark.parametrize("shape", [(1, 3, None, None), (None, None, None, 3)], ids=["NCHW", "NHWC"])
def test_a_picture_comes_back_as_it_went_in(shape: tuple[int | None, ...]) -> None:
    answer = open_net(Fake(lambda tensor: tensor, shape)).run(picture())
    assert answer is not None
    assert np.array_equal(answer, picture())


SPOILERS: dict[str, Callable[[Tensor], AnyArray | None]] = {
    "none": lambda tensor: None,
    "smaller": lambda tensor: tensor[:, :, 1:],
    "not a number": lambda tensor: np.where(tensor > 0.99, np.nan, tensor),
    "endless": lambda tensor: np.where(tensor > 0.99, np.inf, tensor),
}


@pytest.mark.parametrize("spoil", SPOILERS.values(), ids=SPOILERS.keys())
def test_an_answer_that_is_no_picture_of_that_size_counts_as_none(spoil: Callable[[Tensor], AnyArray | None]) -> None:
    small = open_net(Fake(lambda tensor: spoil(tensor) if tensor.shape[2] == 8 else tensor))
    assert small.run(picture()) is None
    assert small.run(picture(24)) is not None


def test_sides_are_tried_until_one_runs() -> None:
    net = open_net(Fake(lambda tensor: tensor if tensor.shape[2:] == (256, 256) else None))
    assert net.trial == (256, 256)


def test_a_network_that_never_runs_is_refused_with_what_was_tried() -> None:
    with pytest.raises(NoStyle, match=r"^it did not run, at 128 x 64, .*512 x 512 px\.$"):
        open_net(Fake(lambda tensor: None))


def test_one_fixed_side_is_tried_as_a_square() -> None:
    net = open_net(Fake(lambda tensor: tensor, (1, 3, 200, None)))
    assert (net.trial, net.height, net.width) == ((200, 200), 200, None)


def test_an_answer_in_half_precision_is_refused() -> None:
    with pytest.raises(NoStyle, match=r"its output is tensor\(float16\); a style answers in float32"):
        open_net(Fake(lambda tensor: tensor, output_type="tensor(float16)"))
