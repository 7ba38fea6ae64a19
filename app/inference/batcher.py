"""Batcher: how network runs share the processors, and which of them run as one.

A lone run has all processors; where several wait, they go side by side with a share each, and pictures of the same
style and shape may go as one batch (docs/performance/batches.md has what was measured). There is no thread of its own:
the first job of a batch runs it in its caller's thread, while the others' threads wait.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from app.inference.arena import Arena
from app.inference.lines import Job, Lines
from app.inference.network import Network
from app.telemetry.observer import UNOBSERVED, Observer
from app.types import Checkpoint, Tensor, never_stop

_log = logging.getLogger(__name__)


class Batcher:
    """Lets at most ``runs`` network runs go on at once, over all networks of a process.

    together: most pictures of one run. wait: seconds that a batch which is not full waits for more.
    """

    def __init__(
        self,
        runs: int,
        *,
        together: int = 1,
        wait: float = 0.0,
        observer: Observer = UNOBSERVED,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._runs = runs
        self._wait = wait
        self._observer = observer
        self._clock = clock
        self._lock = threading.Lock()
        self._lines = Lines(together, wait)
        self._networks: set[Network] = set()
        self._arena = Arena()
        self._inside = 0
        self._alone = False

    @property
    def waiting(self) -> int:
        """Pictures that wait for their turn at this moment."""
        with self._lock:
            return self._lines.waiting

    def held(self) -> int:
        """Bytes that runs use, or have left for the next ones."""
        return self._arena.held

    def release(self) -> None:
        """Give back what is left for next runs. Raises nothing: where it cannot be, all goes on as before."""
        with self._lock:
            networks = tuple(self._networks)
        # The memory is that of all of them, so the first that can is enough.
        if self.held() and any(self._gives_back(network) for network in networks):
            self.given_back()

    def given_back(self) -> None:
        """To be told when a session has given back what runs of this process had left."""
        self._arena.given_back()

    @staticmethod
    def _gives_back(network: Network) -> bool:
        try:
            network.release()
        except Exception:
            _log.warning("%s: memory was not given back.", network.style, exc_info=True)
            return False
        return True

    def run(self, network: Network, tensor: Tensor, checkpoint: Checkpoint = never_stop) -> Tensor:
        """``tensor``, one picture, through ``network`` when its turn comes.

        ``checkpoint`` is called while it waits; what it raises is raised here, and the picture never runs.
        """
        job = Job(network, tensor, checkpoint, self._clock())
        with self._lock:
            self._networks.add(network)
            self._lines.add(job)
            self._appoint()
        self._await_turn(job)
        if job.crew:
            self._lead(job)
        return job.answer()

    def _await_turn(self, job: Job) -> None:
        if self._wait:
            due = job.arrived + self._wait
            while (left := due - self._clock()) > 0 and not job.settled.wait(left):
                pass
            # If nobody has filled the batch, it is due now. Where all places are taken, whoever leaves sees to it.
            with self._lock:
                self._appoint()
        job.settled.wait()

    def _appoint(self) -> None:
        """With the lock held: send off whatever is due, as far as there are places."""
        while self._has_room():
            crew = self._lines.take(self._clock())
            if not crew:
                return
            self._inside += 1
            self._alone = self._runs == 1 or (self._inside == 1 and not self._lines.waiting)
            leader = crew[0]
            leader.crew, leader.alone = crew, self._alone
            leader.settled.set()

    def _has_room(self) -> bool:
        return self._inside == 0 or (not self._alone and self._inside < self._runs)

    def _lead(self, leader: Job) -> None:
        # It is one of its own crew, and the two would keep each other, and their tensors, in memory.
        crew, leader.crew = leader.crew, []
        pixels = sum(job.tensor.size for job in crew) // 3
        try:
            with self._arena.taking(leader.network.run_bytes * pixels):
                outcomes = _outcomes(crew, alone=leader.alone)
            self._observer.batch_ran(leader.network.style, len(crew))
        except BaseException as error:
            outcomes = [error] * len(crew)
        with self._lock:
            self._inside -= 1
            self._appoint()
        for job, outcome in zip(crew, outcomes, strict=True):
            job.settle(outcome)


def _outcomes(crew: Sequence[Job], *, alone: bool) -> Sequence[Tensor | BaseException]:
    network = crew[0].network
    try:
        return network.run([job.tensor for job in crew], alone=alone)
    except Exception as error:
        if len(crew) == 1:
            return [error]
    # One picture must not take the others with it.
    return [outcome for job in crew for outcome in _outcomes([job], alone=alone)]
