"""Network: a style's network as its runs are shared out: on all processors or on some, one picture or a batch."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from app.types import Session, StyleId, Tensor

_Kind: TypeAlias = tuple[bool, tuple[int, ...]]
"""Which session, and the shape of the whole batch."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Reach:
    """How many pixels the runs of one session have at this moment, and the most since its memory was given back."""

    now: int = 0
    most: int = 0


def _gives_nothing_back() -> None:
    """For sessions that hold nothing, or cannot let go of it."""


class Network:
    """One network. Safe for threads if its sessions are.

    style: whose it is. alone: the session for a run that has every processor. beside: the one for runs that share
    them; both give the same output. most: pictures of one run. run_bytes: memory that a run takes for each pixel, and
    that its session keeps afterwards. release: makes the sessions give back what they keep.
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
        self._give_back = release
        self._lock = threading.Lock()
        self._reaches = {True: _Reach(), False: _Reach()}
        self._proven: set[_Kind] = set()

    @property
    def held(self) -> int:
        """Bytes that its sessions keep between runs: each as much as its runs have taken at most at one time."""
        with self._lock:
            return round(self.run_bytes * sum(reach.most for reach in self._reaches.values()))

    def release(self) -> None:
        """Give back what is kept between runs; a next run takes a little longer for it."""
        if not self.held:
            return
        self._give_back()
        with self._lock:
            for reach in self._reaches.values():
                reach.most = reach.now

    def run(self, tensors: Sequence[Tensor], *, alone: bool) -> list[Tensor]:
        """One forward pass of ``tensors``, each of one picture and all of one shape: an answer for each, in order.

        The answers are those of single runs, to the last bit.
        """
        with self._reaching(sum(tensor.size for tensor in tensors) // 3, alone=alone):
            return self._run(tensors, alone=alone)

    @contextmanager
    def _reaching(self, pixels: int, *, alone: bool) -> Iterator[None]:
        reach = self._reaches[alone]
        with self._lock:
            reach.now += pixels
            reach.most = max(reach.most, reach.now)
        try:
            yield
        finally:
            with self._lock:
                reach.now -= pixels

    def _run(self, tensors: Sequence[Tensor], *, alone: bool) -> list[Tensor]:
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
