"""Lite2: the second network of the built-in styles, in three sizes.

Like Lite it is fully convolutional with ReLU only, and no layer looks at the whole picture, so that a tile with its
halo gives the very pixels of the whole. What is different comes from timing each layer of Lite in ONNX Runtime: a
fifth of its time went into shuffling pixels, and a convolution of 24 channels takes as long as one of 32. So pixels are
shuffled once, at the very end; on the way up they are repeated, which costs next to nothing, and convolutions at 1/2 of
the side draw the lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, pixel_shuffle, relu


@dataclass(frozen=True, slots=True)
class Size:
    """Channels at 1/2, 1/4 and 1/8 of the side; residual blocks at 1/4 on the way down, at 1/8, and on the way up."""

    half: int
    quarter: int
    eighth: int
    down: int
    middle: int
    up: int
    top: int


SIZES: Final[Mapping[str, Size]] = MappingProxyType(
    {
        "s": Size(half=16, quarter=32, eighth=64, down=0, middle=3, up=2, top=1),
        "m": Size(half=32, quarter=48, eighth=64, down=1, middle=3, up=3, top=2),
        "l": Size(half=48, quarter=64, eighth=96, down=1, middle=4, up=4, top=3),
    }
)

DILATIONS: Final = (1, 2, 4)
"""Of the first convolution of the blocks at 1/8, in turn: how light and tone lie around shows only from afar."""

# A factor on the last weights of each branch: the untrained network is almost the identity, and learns from there.
_TIMID: Final = 0.1


class Block(nn.Module):
    """Two 3 x 3 convolutions whose answer is added to what came in; channels stay."""

    def __init__(self, channels: int, dilation: int = 1) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=dilation, dilation=dilation)
        self.second = _timid(nn.Conv2d(channels, channels, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        """``x`` and the answer: (N, channels, H, W)."""
        return relu(x + self.second(relu(self.first(x))))


class Lite2(nn.Module):
    """(N, 3, H, W) in [-1, 1] to the same; H and W are multiples of 8. The output is not clipped."""

    def __init__(self, size: Size = SIZES["m"]) -> None:
        super().__init__()
        self.size = size
        self.enter = nn.Conv2d(3, size.half, 4, stride=2, padding=1)
        self.to_quarter = nn.Conv2d(size.half, size.quarter, 3, stride=2, padding=1)
        self.down = nn.Sequential(*(Block(size.quarter) for _ in range(size.down)))
        self.to_eighth = nn.Conv2d(size.quarter, size.eighth, 3, stride=2, padding=1)
        self.middle = nn.Sequential(
            *(Block(size.eighth, DILATIONS[index % len(DILATIONS)]) for index in range(size.middle))
        )
        self.from_eighth = nn.Conv2d(size.eighth, size.quarter, 1)
        self.up = nn.Sequential(*(Block(size.quarter) for _ in range(size.up)))
        self.from_quarter = nn.Conv2d(size.quarter, size.half, 1)
        self.top = nn.Sequential(*(Block(size.half) for _ in range(size.top)))
        self.leave = _timid(nn.Conv2d(size.half, 12, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        at_half = relu(self.enter(x))
        at_quarter = self.down(relu(self.to_quarter(at_half)))
        at_eighth = self.middle(relu(self.to_eighth(at_quarter)))
        at_quarter = self.up(relu(at_quarter + _doubled(self.from_eighth(at_eighth))))
        at_half = self.top(relu(at_half + _doubled(self.from_quarter(at_quarter))))
        return x + pixel_shuffle(self.leave(at_half), 2)


def lite2_like(state: Mapping[str, Tensor]) -> Lite2:
    """An untrained Lite2 of the size that ``state`` was saved from; what ``state`` does not tell is as in ``m``."""
    usual = SIZES["m"]
    layers = {"enter": usual.half, "to_quarter": usual.quarter, "to_eighth": usual.eighth}
    half, quarter, eighth = (_outputs(state, f"{layer}.weight", width) for layer, width in layers.items())
    down, middle, up, top = (_count(state, stage) for stage in ("down", "middle", "up", "top"))
    return Lite2(Size(half, quarter, eighth, down, middle, up, top))


def _outputs(state: Mapping[str, Tensor], key: str, default: int) -> int:
    weight = state.get(key)
    return default if weight is None or weight.ndim != 4 or 0 in weight.shape else int(weight.shape[0])


def _count(state: Mapping[str, Tensor], stage: str) -> int:
    return len({key.split(".")[1] for key in state if key.startswith(f"{stage}.")})


def _doubled(x: Tensor) -> Tensor:
    return interpolate(x, scale_factor=2.0, mode="nearest")


def _timid(convolution: nn.Conv2d) -> nn.Conv2d:
    with torch.no_grad():
        convolution.weight.mul_(_TIMID)
        convolution.bias.zero_()
    return convolution
