"""The INT8 file of a network: calibrated, searched, written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from onnx import ModelProto

from app.types import Tensor
from tools.judge.bars import Bar
from tools.shrink.int8 import Int8Options, Quantizer, deciding_nodes
from tools.shrink.panel import Panel
from tools.shrink.reader import Reader
from tools.shrink.results import Refused
from tools.shrink.search import Budget, OutOfTime, Point, Search, State


@dataclass(frozen=True, slots=True)
class EightBits:
    """tensors: of the calibration photos. bars: to be met. keep: folder for what a later run can go on from.

    ways: options to choose from: those are taken with which the network wholly in 8 bit keeps furthest from the bars.
    seconds: granted to the search, without the calibration before it. tell: takes each point of the trade curve.
    """

    panel: Panel
    tensors: Sequence[Tensor]
    ways: Sequence[Int8Options]
    bars: Sequence[Bar]
    seconds: float
    keep: Path
    tell: Callable[[Point], None] = lambda point: None

    def write(self, model: ModelProto, path: Path) -> str:
        """Write ``model`` in 8 bit to ``path``, with as few nodes in FP32 as meet the bars; a note on how many.

        Nodes must have names. Raises Refused where the time is over, or nothing may be in 8 bit.
        """
        if not deciding_nodes(model):
            raise Refused("it has nothing between the first and the last layer that could be in 8 bit")
        self.keep.mkdir(parents=True, exist_ok=True)
        way, quantizer = min(self._tried(model, path), key=lambda tried: tried[0])[1:]
        fp32 = self._search(quantizer, self.keep / f"search-{way.calibration}.json")
        if len(fp32) == len(quantizer.nodes):
            raise Refused("the bars are met only with no node in 8 bit")
        quantizer.write(path, fp32)
        return f"{len(fp32)} of {len(quantizer.nodes)} nodes stay FP32; {way.calibration}"

    def _tried(self, model: ModelProto, path: Path) -> Iterator[tuple[float, Int8Options, Quantizer]]:
        """Each way with how near it comes to the bars; ``path``: for the networks on trial."""
        for way in self.ways:
            reader = Reader(self.panel.card.input_name, self.tensors)
            quantizer = Quantizer(model, way, self.keep / f"ranges-{way.calibration}.json", reader)
            # Calibrates, where that has not been done.
            quantizer.write(path, ())
            strain = self.panel.judge(path, self.bars).strain if len(self.ways) > 1 else 0.0
            yield strain, way, quantizer

    def _search(self, quantizer: Quantizer, state_file: Path) -> tuple[str, ...]:
        with TemporaryDirectory() as folder:
            search = Search(
                quantizer,
                self.panel,
                self.bars,
                State.load(state_file),
                state_file=state_file,
                trial=Path(folder) / "trial.onnx",
                budget=Budget(self.seconds, time.monotonic()),
                tell=self.tell,
            )
            try:
                return search.run()
            except OutOfTime as error:
                done = (
                    f"{len(search.state.damage)} of {len(quantizer.nodes)} nodes and {len(search.state.curve)} networks"
                )
                raise Refused(
                    f"the search is not done after {self.seconds:g} s ({done} measured): run it again to go on"
                ) from error
