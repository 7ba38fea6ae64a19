"""What the student is told about its drawing. All take (N, 3, H, W) in [-1, 1]: the drawing, then the teacher's.

Each term is there for something that the others let pass:

- ``nearness``: the mean absolute difference. Alone, it draws the mean of all answers that are possible: soft.
- ``slopes``: the same of differences between neighbours. Puts edges where the teacher has them, keeps flat areas flat.
- ``tones``: the same of means over 4 x 4. Tone and colour, whatever the lines do.
- ``structure``: 1 - SSIM (Wang et al., 2004). Its contrast term punishes softness that nearness prefers.
- ``lines``: the difference of black-hats (closing minus picture, Serra 1982), which shows dark lines thinner than the
  window and nothing else. Ink takes few pixels of a picture, so the other terms hardly see whether it is there. What
  is missing counts more than what is too much (a quantile loss, Koenker and Bassett 1978): where a student is not sure
  of a line, the median of all possible answers has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, conv2d, max_pool2d

LINE_WINDOW: Final = 7
"""Side of the black-hat's square in px: ink is up to 5 px wide at the sizes that are drawn."""

_SIGMA, _RADIUS = 1.5, 5
_STABILIZERS: Final = ((0.01 * 2) ** 2, (0.03 * 2) ** 2)
"""C1 and C2 of Wang et al. (2004), equation 13, for a range of 2."""

_LUMA: Final = (0.299, 0.587, 0.114)


@dataclass(frozen=True, slots=True)
class LossWeights:
    """How much each term counts; missing: how much more a line that is too faint than one that is too dark."""

    nearness: float = 1.0
    slopes: float = 0.5
    tones: float = 0.5
    structure: float = 0.5
    lines: float = 2.0
    missing: float = 2.0


def loss_terms(drawn: Tensor, wanted: Tensor, channel: int, missing: float) -> Mapping[str, Tensor]:
    """Each term by its name in LossWeights. channel: of the three, whose structure is looked at in this step.

    missing: as in LossWeights.

    One channel a step is a third of the work and the same in the mean.
    """
    difference = drawn - wanted
    return {
        "nearness": difference.abs().mean(),
        "slopes": _across(difference).abs().mean() + _down(difference).abs().mean(),
        "tones": avg_pool2d(difference, 4).abs().mean(),
        "structure": 1 - ssim(drawn[:, channel : channel + 1], wanted[:, channel : channel + 1]),
        "lines": _uneven(black_hat(luma(drawn)) - black_hat(luma(wanted)), missing).mean(),
    }


def total(terms: Mapping[str, Tensor], weights: LossWeights) -> Tensor:
    """The weighted sum."""
    return torch.stack([getattr(weights, name) * term for name, term in terms.items()]).sum()


def luma(rgb: Tensor) -> Tensor:
    """(N, 1, H, W): 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601)."""
    red, green, blue = rgb.unbind(1)
    return (_LUMA[0] * red + _LUMA[1] * green + _LUMA[2] * blue)[:, None]


def black_hat(plane: Tensor, side: int = LINE_WINDOW) -> Tensor:
    """Closing of (N, 1, H, W) by a square, minus itself: how much darker a place is than both its sides."""
    return -_dilated(-_dilated(plane, side), side) - plane


def _uneven(difference: Tensor, missing: float) -> Tensor:
    return difference.abs() + (missing - 1) * torch.relu(-difference)


def _dilated(plane: Tensor, side: int) -> Tensor:
    half = side // 2
    return max_pool2d(max_pool2d(plane, (1, side), 1, (0, half)), (side, 1), 1, (half, 0))


def ssim(drawn: Tensor, wanted: Tensor) -> Tensor:
    """Mean SSIM of (N, 1, H, W) with a Gaussian window of 1.5 px, the rim left out."""
    # From black, as SSIM is defined: its first term compares means as ratios.
    drawn, wanted = drawn + 1, wanted + 1
    stacked = torch.cat([drawn, wanted, drawn * drawn, wanted * wanted, drawn * wanted], 1)
    a, b, aa, bb, ab = _windowed(stacked).chunk(5, 1)
    c1, c2 = _STABILIZERS
    above = (2 * a * b + c1) * (2 * (ab - a * b) + c2)
    below = (a * a + b * b + c1) * (aa - a * a + bb - b * b + c2)
    return (above / below).mean()


def _windowed(planes: Tensor) -> Tensor:
    places = torch.arange(-_RADIUS, _RADIUS + 1, dtype=planes.dtype, device=planes.device)
    bell = torch.exp(-(places**2) / (2 * _SIGMA**2))
    count = planes.shape[1]
    bell = (bell / bell.sum()).expand(count, 1, -1)
    return conv2d(conv2d(planes, bell[:, :, None, :], groups=count), bell[:, :, :, None], groups=count)


def _across(x: Tensor) -> Tensor:
    return x[..., 1:] - x[..., :-1]


def _down(x: Tensor) -> Tensor:
    return x[..., 1:, :] - x[..., :-1, :]
