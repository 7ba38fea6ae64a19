"""Which networks a checkpoint may belong to, and by which key each is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final, TypeAlias

from torch import Tensor, nn

from tools.networks import animegan_v2, animegan_v3, lite, lite2

State: TypeAlias = Mapping[str, Tensor]
"""Name of a weight to its value, as ``state_dict`` gives it."""


def _as_it_is(state: State) -> State:
    return state


def _as_ours(state: State) -> State:
    return animegan_v3.from_tensorflow(state) if _with_tensorflow_names(state) else state


def _with_tensorflow_names(state: State) -> bool:
    return any(name.removesuffix(":0") == animegan_v3.FIRST_VARIABLE for name in state)


@dataclass(frozen=True, slots=True)
class Family:
    """Networks of one architecture.

    mark: a key that only this family has. build: an untrained network of the size that a state dict tells.
    translate: a state dict in other known names to the network's own. multiple: of the sides, in px.
    """

    title: str
    mark: str
    build: Callable[[State], nn.Module]
    multiple: int
    translate: Callable[[State], State] = _as_it_is

    def knows(self, state: State) -> bool:
        """Whether ``state`` carries the mark."""
        return self.mark in self.translate(state)


def _animegan_v2(_: State, *, align_corners: bool) -> nn.Module:
    return animegan_v2.AnimeGANv2(align_corners=align_corners)


def _animegan_v3(_: State) -> nn.Module:
    return animegan_v3.AnimeGANv3()


FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        "lite": Family("Lite", "stem.weight", lite.lite_like, multiple=8),
        "lite2": Family("Lite2", "enter.weight", lite2.lite2_like, multiple=8),
        "animegan-v2": Family(
            "AnimeGANv2", "block_a.0.1.weight", partial(_animegan_v2, align_corners=True), multiple=8
        ),
        "animegan-v2-halfpixel": Family(
            "AnimeGANv2 (half-pixel)", "block_a.0.1.weight", partial(_animegan_v2, align_corners=False), multiple=8
        ),
        "animegan-v3": Family("AnimeGANv3", "base.0.convolution.weight", _animegan_v3, multiple=8, translate=_as_ours),
    }
)
"""By the name that ``--family`` takes. Of families with the same mark the first is what a checkpoint is taken for."""
