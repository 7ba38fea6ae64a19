"""The student while it learns: every 3 x 3 convolution has branches, which are one convolution when exported.

Branches beside a convolution change how it learns and nothing of what it can do (Ding et al.: RepVGG, CVPR 2021); fixed
edge filters as branches sharpen small networks (Zhang et al.: Edge-oriented convolution block, ACM MM 2021). Here the
branches are summed before they meet the picture, as weights, so that learning with them costs hardly more than without.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.nn.utils import parametrize

from tools.networks.lite2 import SIZES, Lite2

__all__ = ["SIZES", "Branches", "branched", "merged"]

_SHY: Final = 0.1
"""A factor on the branches' first weights: learning starts from the convolution alone, nearly."""

_FILTERS: Final = (
    ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1)),
    ((-1, -2, -1), (0, 0, 0), (1, 2, 1)),
    ((0, 1, 0), (1, -4, 1), (0, 1, 0)),
)
"""Sobel's across and down, and the Laplacian."""


class Branches(nn.Module):
    """A 3 x 3 kernel as the sum of itself, a 1 x 1 convolution, and edge filters after 1 x 1 convolutions each.

    In place of the weight (outputs, inputs, 3, 3) of a convolution by torch.nn.utils.parametrize.
    """

    def __init__(self, outputs: int, inputs: int) -> None:
        super().__init__()
        bound = _SHY / inputs**0.5
        self.point = nn.Parameter(torch.empty(outputs, inputs).uniform_(-bound, bound))
        self.edges = nn.Parameter(torch.empty(len(_FILTERS), outputs, inputs).uniform_(-bound, bound))
        self.scales = nn.Parameter(torch.full((len(_FILTERS), outputs, 1), _SHY))
        self.register_buffer("filters", torch.tensor(_FILTERS, dtype=torch.float32), persistent=False)

    def forward(self, kernel: Tensor) -> Tensor:
        """All branches as one kernel, of the shape of ``kernel``."""
        edges = torch.einsum("foi,fhw->oihw", self.scales * self.edges, self.filters)
        return kernel + pad(self.point[:, :, None, None], (1, 1, 1, 1)) + edges


def branched(network: Lite2) -> Lite2:
    """``network`` itself, each of its 3 x 3 convolutions with branches."""
    for convolution in _threes(network):
        outputs, inputs = convolution.weight.shape[:2]
        parametrize.register_parametrization(convolution, "weight", Branches(outputs, inputs))
    return network


def merged(network: Lite2) -> Lite2:
    """A plain network that answers as ``network`` with its branches does."""
    plain = Lite2(network.size)
    state = {name: _value(network, name) for name in plain.state_dict()}
    plain.load_state_dict(state)
    plain.eval()
    return plain


def _value(network: Lite2, name: str) -> Tensor:
    """What ``network`` computes with under ``name``: a parameter, or the sum of branches."""
    module, _, parameter = name.rpartition(".")
    value: Tensor = getattr(network.get_submodule(module), parameter)
    return value.detach().clone().contiguous()


def _threes(network: Lite2) -> list[nn.Conv2d]:
    return [part for part in network.modules() if isinstance(part, nn.Conv2d) and part.kernel_size == (3, 3)]
