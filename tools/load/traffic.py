"""What people ask for, one request after the other: mostly new photos, now and then one that has been seen."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

REPEATS: Final = 0.15
"""Share of requests for a picture that has been asked for before: people press twice, and send on what they liked."""

_REMEMBERED: Final = 50
"""Requests back that people ask again for, at most."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One request to come. photo: a number for the gallery. query: options, as in a URL."""

    photo: int
    query: tuple[tuple[str, str], ...]
    repeated: bool = False


def wishes(
    seed: int,
    styles: Sequence[str],
    *,
    first_photo: int = 0,
    repeats: float = REPEATS,
) -> Callable[[], Wish]:
    """A source of wishes, the same for the same arguments. Photos are numbered from ``first_photo``."""
    chance = random.Random(seed)  # noqa: S311
    seen: deque[Wish] = deque(maxlen=_REMEMBERED)
    number = first_photo

    def next_wish() -> Wish:
        nonlocal number
        if seen and chance.random() < repeats:
            again = chance.choice(seen)
            return Wish(again.photo, again.query, repeated=True)
        number += 1
        new = Wish(number, (("style", chance.choice(styles)),))
        seen.append(new)
        return new

    return next_wish
