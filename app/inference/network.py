"""Network: a style's network as its runs are shared out: on all processors or on some, one picture or a batch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from app.types import Session, StyleId, Tensor

_Kind: TypeAlias = tuple[bool, tuple[int, ...]]
"""Which session, and the shape of the whole batch."""

_log = logging.getLogger(__name__)


def _gives_nothing_back() -> None:
    """For sessions that hold nothing, or cannot let go of it."""


class Network:
    """One network. Safe for threads if its sessions are.

    style: whose it is. alone: the session for a run that has every processor. beside: the one for runs that share
    them; both give the same output. most: pictures of one run. run_bytes: memory that a run takes for each pixel.
    release: makes the sessions give back what is kept for the next run, which then takes a little longer.
    """

    def __init__(
        self,
        style: StyleId,
        alone: Session,
        beside: Session,
        *,
        most: int = 1,
        run_bytes: float = 0.0,
        release: Callable[[], None] = _gives_nothing_back,
    ) -> None:
        self.style = style
        self.most = most
        self.run_bytes = run_bytes
        self._alone = alone
        self._beside = beside
        self.release = release
        self._proven: set[_Kind] = set()

    def run(self, tensors: Sequence[Tensor], *, alone: bool) -> list[Tensor]:
        """One forward pass of ``tensors``, each of one picture and all of one shape: an answer for each, in order.

        The answers are those of single runs, to the last bit.
        """
        session = self._alone if alone else self._beside
        if len(tensors) == 1 or self.most == 1:
            return [session.run(tensor) for tensor in tensors]
        batch = np.concatenate(tensors)
        answers = np.split(session.run(batch), len(tensors))
        kind = (alone, batch.shape)
        return answers if kind in self._proven else self._prove(kind, tensors, answers)

    def _prove(self, kind: _Kind, tensors: Sequence[Tensor], answers: list[Tensor]) -> list[Tensor]:
        # Kernels are chosen by shape, not by content: what one batch of a shape gives, all of that shape do. A network
        # may sum up over the whole batch, or in another order, and then a stranger's photo would show in one's own.
        session = self._alone if kind[0] else self._beside
        singles = [session.run(tensor) for tensor in tensors]
        if all(map(np.array_equal, singles, answers)):
            self._proven.add(kind)
        elif self.most > 1:
            self.most = 1
            _log.warning("Style %s: a batch gives other pixels than pictures alone, so each runs alone.", self.style)
        return singles
