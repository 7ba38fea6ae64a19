"""The INT8 file of a network: calibrated, searched, written."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from onnx import ModelProto

from app.types import Tensor
from tools.judge.bars import Bar
from tools.shrink.int8 import Int8Options, Quantizer
from tools.shrink.panel import Panel
from tools.shrink.reader import Reader
from tools.shrink.results import Refused
from tools.shrink.search import Budget, OutOfTime, Point, Search, State


@dataclass(frozen=True, slots=True)
class EightBits:
    """tensors: of the calibration photos. bars: to be met. keep: folder for what a later run can go on from.

    seconds: granted to the search, without the calibration before it. tell: takes each point of the trade curve.
    """

    panel: Panel
    tensors: Sequence[Tensor]
    options: Int8Options
    bars: Sequence[Bar]
    seconds: float
    keep: Path
    tell: Callable[[Point], None] = lambda point: None

    def write(self, model: ModelProto, path: Path) -> str:
        """Write ``model`` in 8 bit to ``path``, with as few nodes in FP32 as meet the bars; a note on how many.

        Nodes must have names. Raises Refused where the time is over, or nothing may be in 8 bit.
        """
        reader = Reader(self.panel.card.input_name, self.tensors)
        quantizer = Quantizer(model, self.options, self.keep / "ranges.json", reader)
        if not quantizer.nodes:
            raise Refused("it has nothing between the first and the last layer that could be in 8 bit")
        self.keep.mkdir(parents=True, exist_ok=True)
        # Calibrates, where that has not been done.
        quantizer.write(path, ())
        fp32 = self._search(quantizer)
        if len(fp32) == len(quantizer.nodes):
            raise Refused("the bars are met only with no node in 8 bit")
        quantizer.write(path, fp32)
        return f"{len(fp32)} of {len(quantizer.nodes)} nodes stay FP32"

    def _search(self, quantizer: Quantizer) -> tuple[str, ...]:
        state_file = self.keep / "search.json"
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
