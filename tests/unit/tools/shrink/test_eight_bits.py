"""INT8 by several ways of calibration: the one that keeps furthest from the bars is taken, and told."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

from pathlib import Path

from app.inference.card import ModelCard
from tests.unit.tools.shrink.made_networks import panel, photos, residual_network, saved
from tools.judge.bars import Bar, judge
from tools.shrink.clock import Time
from tools.shrink.eight_bits import EightBits
from tools.shrink.int8 import Int8Options, usual_ways
from tools.shrink.panel import Panel, Verdict, feeds

BARS = (Bar("banding", "worst", 1),)


class Scale:
    """A panel that finds the given banding, one after the other, and times nothing."""

    def __init__(self, card: ModelCard, *banding: float) -> None:
        self.card = card
        self._banding = iter(banding)

    def judge(self, path: Path, bars: tuple[Bar, ...]) -> Verdict:
        scores = {"ssim": 1.0, "banding": next(self._banding)}
        return Verdict(scores, scores, judge(bars, scores, scores), ())

    def times(self, paths: list[Path], rounds: int) -> list[Time]:
        return [Time(0.5, 20) for _ in paths]


def eight_bits(card: ModelCard, judging: Panel | Scale, work: Path, ways: tuple[Int8Options, ...]) -> EightBits:
    tensors = feeds(card, [photo.rgb for photo in photos(4)])
    return EightBits(judging, tensors, ways, BARS, seconds=60, keep=work / "keep")  # type: ignore[arg-type]


def test_the_way_that_is_furthest_from_the_bars_is_taken(card: ModelCard, work: Path) -> None:
    ways = usual_ways(Int8Options())
    # The fourth is the search's own look at the one taken.
    maker = eight_bits(card, Scale(card, 0.8, 0.2, 0.5, 0.2), work, ways)
    assert maker.write(residual_network(), work / "best.onnx") == "0 of 2 nodes stay FP32; percentile-99.9999"
    alone = eight_bits(card, Scale(card, 0.2), work, ways[1:2])
    alone.write(residual_network(), work / "alone.onnx")
    assert (work / "best.onnx").read_bytes() == (work / "alone.onnx").read_bytes()


def test_each_way_keeps_ranges_of_its_own(card: ModelCard, work: Path) -> None:
    eight_bits(card, Scale(card, 0.8, 0.7, 0.5, 0.5), work, usual_ways(Int8Options())).write(
        residual_network(), work / "int8.onnx"
    )
    assert sorted(path.name for path in (work / "keep").iterdir()) == [
        "ranges-min-max.json",
        "ranges-percentile-99.999.json",
        "ranges-percentile-99.9999.json",
        "search-min-max.json",
    ]


def test_a_real_panel_tells_how_near_the_bars_are(card: ModelCard, work: Path) -> None:
    model = residual_network()
    judging = panel(card, saved(model, work / "full.onnx"))
    note = eight_bits(card, judging, work, usual_ways(Int8Options())).write(model, work / "int8.onnx")
    assert note.startswith("0 of 2 nodes stay FP32; ")
    assert 0 < judging.judge(work / "int8.onnx", (Bar("mean_error", "mean", 1),)).strain <= 1
