"""Which weights of a style may be offered: none that nobody has judged, and none that bring nothing here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.inference.card import SMALL, ModelCard, WeightFile

HALF: Final = 0.51
"""A variant of at most this share of the other's bytes is worth having whatever its speed: half, and a graph's names
and shapes, which do not shrink with its weights."""

FASTER: Final = 0.95
"""Of the other's time, at most: two runs of one network differ by as much as a twentieth."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The weights to use and, where they are others than those asked for, why: a clause to follow ``because``."""

    weights: WeightFile
    why: str | None = None


def pick_weights(card: ModelCard, variant: str, processor: str) -> Offer:
    """``variant`` of ``card`` if it may be offered on this kind of ``processor``, else the card's first.

    The first is what others are judged by and needs no judgement itself; nor does SMALL, which draws by itself.
    """
    first = next(iter(card.variants.values()))
    weights = card.weights(variant)
    own = weights is first or weights is card.variants.get(SMALL)
    why = None if own else _why_not(card, weights, processor)
    return Offer(first, why) if why else Offer(weights)


def _why_not(card: ModelCard, weights: WeightFile, processor: str) -> str | None:
    verified = weights.verified
    if verified is None:
        return "its card holds no verify result for it"
    against = card.variants.get(verified.against)
    if against is None or (verified.sha256, verified.against_sha256) != (weights.sha256, against.sha256):
        return "its card's verify result is of other files"
    quicker = verified.time.get(processor, 1) <= FASTER
    if quicker or weights.bytes / against.bytes <= HALF:
        return None
    return f"it is more than half the size of {verified.against} and not known to be faster on {processor}"
