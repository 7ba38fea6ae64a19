"""Lines: which runs wait for a network, and whose turn is next. No threads, no clock: who asks says what time it is."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TypeAlias

from app.inference.network import Network
from app.types import Checkpoint, Tensor


@dataclass(eq=False, slots=True)
class Job:
    """One picture that waits to go through a network, and what becomes of it.

    tensor: of one picture. checkpoint: raises where nobody wants the answer any more. arrived: on the clock of whoever
    asks Lines. settled: set once there is an answer, or once it leads a crew. crew: what it is to run, itself first.
    """

    network: Network
    tensor: Tensor
    checkpoint: Checkpoint
    arrived: float
    settled: threading.Event = field(default_factory=threading.Event)
    crew: list[Job] = field(default_factory=list)
    alone: bool = False
    _outcome: Tensor | BaseException | None = None

    def settle(self, outcome: Tensor | BaseException) -> None:
        """It is done, or will never be."""
        self._outcome = outcome
        self.settled.set()

    def answer(self) -> Tensor:
        """What came of it; raises what went wrong."""
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        if self._outcome is None:
            raise RuntimeError("asked before it was settled")
        return self._outcome


_Line: TypeAlias = tuple[Network, tuple[int, ...]]
"""What may run together: the same network and shape. Networks differ by style and variant."""


class Lines:
    """Jobs by network and shape. For one thread at a time.

    together: most of a batch. wait: seconds that a batch which is not full waits for more, from its first job's
    arrival; 0 takes what is there.
    """

    def __init__(self, together: int = 1, wait: float = 0.0) -> None:
        self._together = together
        self._wait = wait
        self._lines: dict[_Line, deque[Job]] = {}
        self._served: dict[Network, int] = {}
        self._turns = 0

    @property
    def waiting(self) -> int:
        """Jobs that have not had their turn."""
        return sum(map(len, self._lines.values()))

    def add(self, job: Job) -> None:
        """``job`` waits from now on."""
        self._lines.setdefault((job.network, job.tensor.shape), deque()).append(job)

    def take(self, now: float) -> list[Job]:
        """The next batch; empty where none is due. What nobody wants any more is settled and costs nothing."""
        self._drop_given_up()
        due = [line for line, jobs in self._lines.items() if self._is_due(line[0], jobs, now)]
        if not due:
            return []
        # The style that was served longest ago, so that many pictures in one style do not hold up another.
        line = min(due, key=lambda line: (self._served.get(line[0], -1), self._lines[line][0].arrived))
        self._served[line[0]] = self._turns = self._turns + 1
        return self._take_from(line)

    def _drop_given_up(self) -> None:
        for line, jobs in list(self._lines.items()):
            kept = deque(job for job in jobs if not _given_up(job))
            if kept:
                self._lines[line] = kept
            else:
                del self._lines[line]

    def _is_due(self, network: Network, jobs: deque[Job], now: float) -> bool:
        return len(jobs) >= self._most(network) or now >= jobs[0].arrived + self._wait

    def _take_from(self, line: _Line) -> list[Job]:
        jobs = self._lines[line]
        batch = [jobs.popleft() for _ in range(min(len(jobs), self._most(line[0])))]
        if not jobs:
            del self._lines[line]
        return batch

    def _most(self, network: Network) -> int:
        return min(self._together, network.most)


def _given_up(job: Job) -> bool:
    try:
        job.checkpoint()
    except Exception as error:
        job.settle(error)
        return True
    return False
