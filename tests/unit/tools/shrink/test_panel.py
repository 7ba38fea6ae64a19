"""The panel: the same pictures through the code that serves, for every file."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

from pathlib import Path

import numpy as np
from onnx import numpy_helper

from app.inference.card import ModelCard
from app.inference.session import OrtSession
from app.inference.stylizer import Stylizer
from tests.unit.tools.shrink.made_networks import panel, photos, residual_network, saved
from tools.judge.bars import BAR_SETS, Bar
from tools.shrink.clock import Time, in_turn, medians
from tools.shrink.panel import feeds
from tools.shrink.photos import PhotoTensors, split


def shifted(by: float, work: Path) -> Path:
    """The file of residual_network with ``by`` added to its answer."""
    model = residual_network()
    bias = next(weights for weights in model.graph.initializer if weights.name == "last.bias")
    bias.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(bias) + np.float32(by), bias.name))
    return saved(model, work / "shifted.onnx")


def test_the_network_itself_loses_nothing(card: ModelCard, work: Path) -> None:
    path = saved(residual_network(), work / "a.onnx")
    verdict = panel(card, path).judge(path, BAR_SETS["equal"])
    assert verdict.passed
    assert verdict.mean["ssim"] == pytest.approx(1)
    assert verdict.worst["max_error"] == 0


def test_a_missed_bar_is_named_with_what_was_measured(card: ModelCard, work: Path) -> None:
    judging = panel(card, saved(residual_network(), work / "a.onnx"))
    verdict = judging.judge(shifted(0.2, work), [Bar("mean_error", "mean", 1), Bar("ssim", "mean", 0.5)])
    assert not verdict.passed
    assert verdict.faults.startswith("mean mean_error <= 1 (is 2")
    assert "ssim" not in verdict.faults


def test_an_answer_that_is_no_number_fails_whatever_the_bars(card: ModelCard, work: Path) -> None:
    verdict = panel(card, saved(residual_network(), work / "a.onnx")).judge(shifted(np.nan, work), [])
    assert not verdict.passed
    assert "no numbers on photo 0" in verdict.faults


def test_the_error_is_a_mean_of_squares_in_levels(card: ModelCard, work: Path) -> None:
    judging = panel(card, saved(residual_network(), work / "a.onnx"))
    # A shift of the range [-1, 1] by 2/51 is one of 5 levels; where the answer is clipped it is less.
    assert 20 < judging.error(shifted(2 / 51, work), photos=2) <= 25.5
    assert judging.error(judging.reference, photos=1) == 0


def test_tensors_are_those_the_service_runs(card: ModelCard) -> None:
    (photo,) = photos(1)

    class Spy:
        def run(self, tensor):
            self.tensor = tensor
            return tensor

    spy = Spy()
    Stylizer(card, spy).stylize(photo.rgb)
    (tensor,) = feeds(card, [photo.rgb])
    np.testing.assert_array_equal(tensor, spy.tensor)
    assert tensor.min() >= -1
    assert tensor.max() <= 1


def test_files_are_timed_against_the_reference(card: ModelCard, work: Path) -> None:
    judging = panel(card, saved(residual_network(), work / "a.onnx"))
    times = judging.times([judging.reference, shifted(0.1, work)], rounds=2)
    assert len(times) == 2
    assert all(time.ratio > 0 and time.milliseconds > 0 for time in times)


def test_runs_take_turns_there_and_back() -> None:
    order: list[str] = []
    times = in_turn([lambda: order.append("a"), lambda: order.append("b"), lambda: order.append("c")], rounds=3)
    assert "".join(order) == "abc abc cba abc".replace(" ", "")
    assert [len(seconds) for seconds in times] == [3, 3, 3]


def test_a_ratio_is_the_middle_one_of_its_rounds() -> None:
    assert medians([[1, 2, 10], [2, 2, 10]]) == [Time(1, 2000), Time(1, 2000)]
    assert medians([[1, 2, 4], [0.5, 8, 1]]) == [Time(1, 2000), Time(0.5, 1000)]


def test_photos_that_judge_do_not_calibrate() -> None:
    paths = [Path(f"{number}.jpg") for number in range(20)]
    parts = split(paths, 4)
    assert not parts.shared
    assert len(parts.judging) == 4
    assert sorted([*parts.judging, *parts.calibrating]) == sorted(paths)
    assert [int(path.stem) for path in parts.judging] == [0, 5, 10, 15]


def test_few_photos_do_both() -> None:
    paths = [Path("a.jpg"), Path("b.jpg"), Path("c.jpg")]
    parts = split(paths, 2)
    assert (parts.judging, parts.calibrating, parts.shared) == (tuple(paths), tuple(paths), True)


def test_calibration_reads_photos_as_they_are_asked_for(card: ModelCard, tmp_path: Path) -> None:
    """The second file does not exist, and that shows only when its turn comes."""
    sample = Path("static/samples/coffee.jpg").resolve()
    tensors = PhotoTensors(card, [sample, tmp_path / "missing.jpg"], 96)
    assert len(tensors) == 2
    assert tensors[0].shape[:2] == (1, 3)
    assert max(tensors[0].shape) == 96
    assert len(tensors[:1]) == 1
    with pytest.raises(FileNotFoundError):
        tensors[1]


def test_sessions_load_what_the_service_loads(card: ModelCard, work: Path) -> None:
    session = OrtSession(saved(residual_network(), work / "a.onnx"), card, threads=1)
    (tensor,) = feeds(card, [photos(1)[0].rgb])
    assert session.run(tensor).shape == tensor.shape
