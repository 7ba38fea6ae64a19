"""A network that learns: one step after the other, and all that has to be kept to go on."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

from tools.networks.lite2 import SIZES, Lite2
from training.losses import loss_terms, total
from training.networks import branched, merged
from training.recipe import Recipe
from training.sampler import Batch

LONGEST_MEMORY: Final = 0.999
"""Of the mean of the weights over time (Polyak, Juditsky 1992), a step: about the last thousand steps."""

LARGEST_GRADIENT: Final = 0.5
"""Its norm; longer ones are shortened, so that one odd square cannot spoil the weights."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where learning happens. narrow: whether products are computed in bfloat16, sums and weights stay float32."""

    device: str
    narrow: bool

    @classmethod
    def best(cls) -> Machine:
        """CUDA where it is, else the processor; bfloat16 where it is computed in hardware, else it is slower."""
        if torch.cuda.is_available():
            return cls("cuda", torch.cuda.is_bf16_supported())
        return cls("cpu", bool(torch.cpu.get_capabilities().get("avx512_bf16", False)))


class Student:
    """A Lite2 on its way, the mean of its weights, and AdamW's memory."""

    def __init__(self, recipe: Recipe, machine: Machine) -> None:
        torch.manual_seed(recipe.seed)
        self._recipe, self._machine = recipe, machine
        plain = Lite2(SIZES[recipe.size])
        network = branched(plain) if recipe.branches else plain
        self.network = network.to(machine.device, memory_format=torch.channels_last)
        self.mean = copy.deepcopy(self.network)
        self._optimizer = torch.optim.AdamW(
            self.network.parameters(), recipe.rate, betas=(0.9, 0.99), weight_decay=recipe.decay
        )

    def learn(self, step: int, progress: float, batch: Batch) -> Mapping[str, float]:
        """One step; each term of the loss before it, and their ``total``."""
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate_at(step, progress)
        photos, wanted = (half.to(self._machine.device, memory_format=torch.channels_last) for half in batch)
        weights = self._recipe.weights
        terms = loss_terms(self._drawn(photos), wanted.contiguous(), step % 3, weights.missing)
        loss = total(terms, weights)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        clip_grad_norm_(self.network.parameters(), LARGEST_GRADIENT)
        self._optimizer.step()
        self._remember(step)
        return {name: float(term.detach()) for name, term in (*terms.items(), ("total", loss))}

    def _drawn(self, photos: torch.Tensor) -> torch.Tensor:
        with torch.autocast(self._machine.device, torch.bfloat16, enabled=self._machine.narrow):
            drawn = self.network(photos)
        return drawn.float().contiguous()

    def _remember(self, step: int) -> None:
        # Short at first, so that the first random weights are soon forgotten.
        memory = min(LONGEST_MEMORY, (step + 1) / (step + 50))
        means, weights = (list(network.parameters()) for network in (self.mean, self.network))
        with torch.no_grad():
            torch._foreach_lerp_(means, weights, 1 - memory)

    def plain(self) -> Lite2:
        """The mean of the weights as a network without branches, on the processor, in evaluation mode."""
        return merged(copy.deepcopy(self.mean).cpu())

    def start_from(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Begin with the weights of a plain network of the same size; branches add little at first."""
        for network in (self.network, self.mean):
            _load_plain(network, weights)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on, for torch.save."""
        return {
            "network": self.network.state_dict(),
            "mean": self.mean.state_dict(),
            "optimizer": self._optimizer.state_dict(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` gave."""
        self.network.load_state_dict(state["network"])
        self.mean.load_state_dict(state["mean"])
        self._optimizer.load_state_dict(state["optimizer"])


def _load_plain(network: nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            plain = name.replace("parametrizations.", "").replace(".weight.original", ".weight")
            if plain in weights:
                parameter.copy_(weights[plain])
            elif ".point" in name or ".edges" in name:
                # The branches' own random weights would be added to what was learnt.
                parameter.mul_(0.0)
