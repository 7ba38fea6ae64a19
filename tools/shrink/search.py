"""Which nodes of an INT8 network must stay FP32: the fewest, taken by the damage they do, until the bars are met.

Each node's damage is measured alone, with every other node FP32. The other way, one node FP32 in a network that is
8 bit elsewhere, takes as many networks, and its figure is a small difference between two large errors that changes
with each node taken out, so that it had to be measured again each time. docs/tools/optimize.md compares the two.

What is found is kept in a file after each step: a search that ran out of time goes on from there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from tools.command import whole_file
from tools.judge.bars import Bar
from tools.shrink.int8 import Quantizer
from tools.shrink.panel import Panel

DAMAGE_PHOTOS: Final = 2
"""Photos for a node's damage, besides the made gradients: the order of nodes is all that is asked of it."""

ROUNDS: Final = 5
"""Timed runs of each network on the curve."""

Clock = Callable[[], float]


class OutOfTime(Exception):
    """The seconds granted are over; what was found is kept."""


@dataclass(frozen=True, slots=True)
class Point:
    """One network on the trade curve: ``fp32`` of the nodes that might be 8 bit are not.

    ssim: mean of the photos. banding: worst of all pictures, in levels. time: for what takes FP32 one. milliseconds: of
    a run. missed: the bars it misses, for people.
    """

    fp32: int
    ssim: float
    banding: float
    time: float
    milliseconds: float
    missed: str

    @property
    def passed(self) -> bool:
        """Whether all bars are met."""
        return not self.missed


@dataclass
class State:
    """What a search knows. damage: by node, in levels². curve: by the number of nodes in FP32."""

    damage: dict[str, float] = field(default_factory=dict)
    curve: dict[int, Point] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> State:
        """What ``path`` keeps, if it is there and whole; else a new state."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            curve = [Point(**point) for point in content["curve"]]
            return cls(dict(content["damage"]), {point.fp32: point for point in curve})
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def save(self, path: Path) -> None:
        """Write all of it, or leave what was there."""
        content = {"damage": self.damage, "curve": [asdict(self.curve[count]) for count in sorted(self.curve)]}
        with whole_file(path) as part:
            part.write_text(json.dumps(content, indent=1), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Budget:
    """seconds: granted from ``start`` on. clock: a test brings its own."""

    seconds: float
    start: float
    clock: Clock = time.monotonic

    def check(self) -> None:
        """Raises OutOfTime where the seconds are over."""
        if self.clock() - self.start > self.seconds:
            raise OutOfTime


class Search:
    """quantizer: makes the networks. panel and bars: judge them. folder: for networks on trial and the state."""

    def __init__(
        self,
        quantizer: Quantizer,
        panel: Panel,
        bars: Sequence[Bar],
        state: State,
        *,
        state_file: Path,
        trial: Path,
        budget: Budget,
        tell: Callable[[Point], None] = lambda point: None,
    ) -> None:
        self.state = state
        self._quantizer = quantizer
        self._panel = panel
        self._bars = bars
        self._state_file = state_file
        self._trial = trial
        self._budget = budget
        self._tell = tell

    def run(self) -> tuple[str, ...]:
        """Names of the fewest nodes found that must stay FP32. Raises OutOfTime.

        1, 2, 4, 8 ... nodes are tried until the bars are met, then the gap is halved: a few networks instead of one
        for each node. With all of them FP32 nothing is lost, so there is an end.
        """
        if self._point(0).passed:
            return ()
        order = self._by_damage()
        worse, better = 0, 1
        while not self._point(better, order).passed and better < len(order):
            worse, better = better, min(2 * better, len(order))
        while better - worse > 1:
            middle = (worse + better) // 2
            worse, better = (worse, middle) if self._point(middle, order).passed else (middle, better)
        return tuple(order[:better])

    def _by_damage(self) -> list[str]:
        """All nodes, the most harmful first."""
        for node in self._quantizer.nodes:
            if node not in self.state.damage:
                self._budget.check()
                self._quantizer.write(self._trial, [other for other in self._quantizer.nodes if other != node])
                self.state.damage[node] = self._panel.error(self._trial, DAMAGE_PHOTOS)
                self.state.save(self._state_file)
        return sorted(self._quantizer.nodes, key=self.state.damage.__getitem__, reverse=True)

    def _point(self, count: int, order: Sequence[str] = ()) -> Point:
        """The network whose first ``count`` nodes of ``order`` are FP32."""
        if count not in self.state.curve:
            self._budget.check()
            self._quantizer.write(self._trial, order[:count])
            verdict = self._panel.judge(self._trial, self._bars)
            (spent,) = self._panel.times([self._trial], ROUNDS)
            ssim, banding = verdict.mean["ssim"], verdict.worst["banding"]
            self.state.curve[count] = Point(count, ssim, banding, spent.ratio, spent.milliseconds, verdict.faults)
            self.state.save(self._state_file)
        self._tell(self.state.curve[count])
        return self.state.curve[count]
