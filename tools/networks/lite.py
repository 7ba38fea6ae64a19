"""Lite: the network of the built-in styles.

Fully convolutional with ReLU only. No layer looks at the whole picture, so that a tile with its halo gives the very
pixels of the whole. All heavy work happens at 1/4 and 1/8 of the side; pixel shuffling leads there and back without
loss, and the network learns what to add to the photo.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import pixel_shuffle, pixel_unshuffle, relu

Triple: TypeAlias = tuple[int, int, int]

WIDTHS: Final[Triple] = (24, 48, 64)
"""Channels at 1/2, 1/4 and 1/8 of the side."""

BLOCKS: Final[Triple] = (1, 4, 2)
"""Residual blocks on the way down at 1/4, at 1/8, and on the way up at 1/4."""

# A factor on the last weights of each branch: the untrained network is almost the identity, and learns from there.
_TIMID: Final = 0.1


class Residual(nn.Module):  # Its two layers are ``a`` and ``b`` in the published weights.
    """Two 3 x 3 convolutions whose answer is added to what came in; channels stay."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.a = nn.Conv2d(channels, channels, 3, padding=1)
        self.b = _timid(nn.Conv2d(channels, channels, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        """``x`` and the answer: (N, channels, H, W)."""
        return relu(x + self.b(relu(self.a(x))))


class Lite(nn.Module):
    """(N, 3, H, W) in [-1, 1] to the same; H and W are multiples of 8. The output is not clipped.

    widths, blocks: see WIDTHS and BLOCKS.
    """

    def __init__(self, widths: Triple = WIDTHS, blocks: Triple = BLOCKS) -> None:
        super().__init__()
        half, quarter, eighth = widths
        self.stem = nn.Conv2d(12, half, 3, padding=1)
        self.d1 = nn.Conv2d(half, quarter, 3, stride=2, padding=1)
        self.enc = _residuals(quarter, blocks[0])
        self.d2 = nn.Conv2d(quarter, eighth, 3, stride=2, padding=1)
        self.mid = _residuals(eighth, blocks[1])
        self.u1 = nn.Conv2d(eighth, quarter * 4, 1)
        self.dec = _residuals(quarter, blocks[2])
        self.u2 = nn.Conv2d(quarter, half * 4, 1)
        self.t = nn.Conv2d(half, half, 3, padding=1)
        self.out = _timid(nn.Conv2d(half, 12, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        at_half = relu(self.stem(pixel_unshuffle(x, 2)))
        at_quarter = self.enc(relu(self.d1(at_half)))
        at_eighth = self.mid(relu(self.d2(at_quarter)))
        at_quarter = self.dec(relu(at_quarter + pixel_shuffle(self.u1(at_eighth), 2)))
        at_half = relu(at_half + pixel_shuffle(self.u2(at_quarter), 2))
        return x + pixel_shuffle(self.out(relu(self.t(at_half))), 2)


def lite_like(state: Mapping[str, Tensor]) -> Lite:
    """An untrained Lite with the widths and the number of blocks that ``state`` was saved from.

    What ``state`` does not tell is as in WIDTHS and BLOCKS.
    """
    layers = zip(("stem", "d1", "d2"), WIDTHS, strict=True)
    half, quarter, eighth = (_outputs(state, f"{layer}.weight", width) for layer, width in layers)
    down, middle, up = (_count(state, stage) for stage in ("enc", "mid", "dec"))
    return Lite((half, quarter, eighth), (down, middle, up))


def _outputs(state: Mapping[str, Tensor], key: str, default: int) -> int:
    weight = state.get(key)
    return default if weight is None or weight.ndim != 4 or 0 in weight.shape else int(weight.shape[0])


def _count(state: Mapping[str, Tensor], stage: str) -> int:
    return len({key.split(".")[1] for key in state if key.startswith(f"{stage}.")})


def _residuals(channels: int, count: int) -> nn.Sequential:
    return nn.Sequential(*(Residual(channels) for _ in range(count)))


def _timid(convolution: nn.Conv2d) -> nn.Conv2d:
    with torch.no_grad():
        convolution.weight.mul_(_TIMID)
        convolution.bias.zero_()
    return convolution
