"""The search for nodes that must stay FP32: the fewest that help, in little time, and never from the start again."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tools.judge.bars import Bar, judge
from tools.shrink.clock import Time
from tools.shrink.panel import Verdict
from tools.shrink.search import Budget, OutOfTime, Point, Search, State

HARM = {"a": 0.1, "b": 4.0, "c": 0.2, "d": 2.0, "e": 1.0, "f": 0.3, "g": 0.4}


@dataclass
class Writer:
    """Stands in for the quantiser: its file is the list of nodes in 8 bit."""

    nodes: list[str] = field(default_factory=lambda: list(HARM))
    written: list[Collection[str]] = field(default_factory=list)

    def write(self, path: Path, fp32: Collection[str]) -> None:
        self.written.append(tuple(fp32))
        path.write_text(" ".join(node for node in self.nodes if node not in fp32), encoding="utf-8")


@dataclass
class Scale:
    """Stands in for the panel: harm adds up, and takes a tenth of SSIM each."""

    asked: int = 0

    def judge(self, path: Path, bars: list[Bar]) -> Verdict:
        scores = {"ssim": 1 - self.error(path, 0) / 10, "banding": self.error(path, 0)}
        return Verdict(scores, scores, judge(bars, scores, scores), ())

    def error(self, path: Path, photos: int) -> float:
        self.asked += 1
        return sum(HARM[node] for node in path.read_text(encoding="utf-8").split())

    def times(self, paths: list[Path], rounds: int) -> list[Time]:
        return [Time(0.5, 20) for _ in paths]


def search(
    folder: Path, ssim: float, *, writer: Writer | None = None, seconds: float = 1e9, state: State | None = None
) -> Search:
    ticks = count()
    return Search(
        writer or Writer(),
        Scale(),
        [Bar("ssim", "mean", ssim)],
        state or State(),
        state_file=folder / "state.json",
        trial=folder / "trial.onnx",
        budget=Budget(seconds, 0.0, lambda: float(next(ticks))),
    )


@pytest.mark.parametrize(
    ("ssim", "fp32"),
    [
        (0.1, ()),
        (0.5, ("b",)),
        (0.75, ("b", "d")),
        (0.895, ("b", "d", "e")),
        (0.93, ("b", "d", "e", "g")),
        (0.995, ("b", "d", "e", "g", "f", "c", "a")),
    ],
)
def test_the_fewest_nodes_are_found_and_the_worst_go_first(ssim: float, fp32: tuple[str, ...], tmp_path: Path) -> None:
    assert search(tmp_path, ssim).run() == fp32


def test_no_damage_is_measured_where_all_may_be_in_8_bit(tmp_path: Path) -> None:
    writer = Writer()
    search(tmp_path, 0.1, writer=writer).run()
    assert writer.written == [()]


def test_the_way_to_many_nodes_is_short(tmp_path: Path) -> None:
    HARM.update({f"n{number}": 0.01 for number in range(57)})
    try:
        found = search(tmp_path, 0.99995)
        assert len(found.run()) == 64
        assert len(found.state.curve) <= 2 * 6 + 1
    finally:
        for number in range(57):
            del HARM[f"n{number}"]


def test_the_curve_says_what_was_traded_for_what(tmp_path: Path) -> None:
    found = search(tmp_path, 0.75)
    found.run()
    assert sorted(found.state.curve) == [0, 1, 2]
    assert found.state.curve[2] == Point(2, pytest.approx(0.8), pytest.approx(2.0), 0.5, 20, "")
    assert found.state.curve[1].missed == "mean ssim >= 0.75 (is 0.6)"


def test_a_search_out_of_time_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first = Writer()
    with pytest.raises(OutOfTime):
        search(tmp_path, 0.75, writer=first, seconds=5).run()
    done = State.load(tmp_path / "state.json")
    assert 0 < len(done.damage) < len(HARM)
    second = Writer()
    assert search(tmp_path, 0.75, writer=second, state=done).run() == ("b", "d")
    whole = Writer()
    search(tmp_path, 0.75, writer=whole).run()
    assert first.written + second.written == whole.written


def test_a_search_that_is_done_writes_no_network_again(tmp_path: Path) -> None:
    search(tmp_path, 0.75).run()
    writer = Writer()
    assert search(tmp_path, 0.75, writer=writer, state=State.load(tmp_path / "state.json")).run() == ("b", "d")
    assert writer.written == []


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"damage": {}}', '{"damage": {}, "curve": [{"x": 1}]}'])
def test_a_state_that_cannot_be_read_is_a_new_one(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert State.load(path) == State()
