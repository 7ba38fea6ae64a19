"""TensorFlow's files become ONNX only where TensorFlow, here a stand-in, answers the same."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from tests.unit.tools.convert.makers import norm_over_the_picture
from tools.command import ToolError
from tools.convert.failure import CheckFailed
from tools.convert.tensorflow import WORKER, Ends, Shape, convert_tensorflow

FREE = ("n", "h", "w", 3)


class StandIn:
    """In place of the other environment: converts every file to ``model``, and answers ``off`` beside it."""

    def __init__(self, model: onnx.ModelProto, *, off: float = 0.0, error: str = "", code: int = 0) -> None:
        self._model, self._off, self._error, self._code = model, off, error, code
        self.jobs: list[dict[str, object]] = []

    def __call__(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        if "venv" in command:
            (Path(command[-1]) / "bin").mkdir(parents=True)
            (Path(command[-1]) / "bin" / "python").touch()
        if str(WORKER) in command:
            self._work(json.loads(Path(command[-1]).read_text(encoding="utf-8")))
        return subprocess.CompletedProcess(command, self._code if str(WORKER) in command else 0, "", "Killed")

    def _work(self, job: dict[str, str]) -> None:
        self.jobs.append(job)
        if job["task"] == "convert":
            onnx.save(self._model, job["out"])
        else:
            session = ort.InferenceSession(self._model.SerializeToString())
            with np.load(job["pictures"]) as pictures:
                batches = [pictures[name] for name in pictures.files]
            np.savez(job["answers"], *(session.run(None, {"x:0": batch})[0] + self._off for batch in batches))
        Path(job["answer"]).write_text(json.dumps({"error": self._error} if self._error else {}), encoding="utf-8")


def convert(folder: Path, run: StandIn, shape: Shape = (None, None, None)) -> str:
    """What was told; the file is ``out/a.onnx`` in ``folder``."""
    told: list[str] = []
    source = folder / "a.pb"
    source.write_bytes(b"a graph")
    cache, target = folder / "cache", folder / "out" / "a.onnx"
    convert_tensorflow(source, target, 17, shape, Ends(), cache=cache, tell=told.append, run=run)
    return "\n".join(told)


def written(folder: Path) -> list[str]:
    return [path.name for path in (folder / "out").iterdir()]


def test_what_answers_alike_is_written(tmp_path: Path) -> None:
    told = convert(tmp_path, StandIn(norm_over_the_picture(1e-5, FREE)))
    assert "256 x 256  3 pictures" in told
    assert "200 x 104  3 pictures" in told
    assert "epsilon" not in told
    assert written(tmp_path) == ["a.onnx"]


def test_what_answers_otherwise_is_not(tmp_path: Path) -> None:
    with pytest.raises(CheckFailed, match=r"differs from TensorFlow by 5\.0e-02"):
        convert(tmp_path, StandIn(norm_over_the_picture(1e-5, FREE), off=0.05))
    assert written(tmp_path) == []


def test_no_number_at_all_is_no_agreement(tmp_path: Path) -> None:
    with pytest.raises(CheckFailed):
        convert(tmp_path, StandIn(norm_over_the_picture(1e-5, FREE), off=float("nan")))


def test_lost_epsilons_are_put_back_after_the_proof(tmp_path: Path) -> None:
    assert "half precision: 1; 1e-05 is back" in convert(tmp_path, StandIn(norm_over_the_picture(0.0, FREE)))
    session = ort.InferenceSession(str(tmp_path / "out" / "a.onnx"))
    assert np.isfinite(session.run(None, {"input": np.zeros((1, 8, 8, 3), np.float32)})[0]).all()


def test_a_network_that_fails_on_flat_pictures_is_not_written(tmp_path: Path) -> None:
    model = norm_over_the_picture(0.0, FREE)
    # One for each channel: no such epsilon is known, and none is put back.
    zero = next(tensor for tensor in model.graph.initializer if tensor.name == "epsilon")
    zero.CopyFrom(onnx.numpy_helper.from_array(np.zeros((1, 1, 1, 3), np.float32), "epsilon"))
    with pytest.raises(CheckFailed, match="without variation"):
        convert(tmp_path, StandIn(model))
    assert written(tmp_path) == []


def test_the_shape_asked_for_reaches_tensorflow(tmp_path: Path) -> None:
    run = StandIn(norm_over_the_picture(1e-5, (1, 64, 96, 3)))
    assert "1 x 64 x 96 x 3" in convert(tmp_path, run, (1, 64, 96))
    assert run.jobs[0]["shape"] == [1, 64, 96, 3]


def test_a_shape_that_cannot_be_had_is_refused(tmp_path: Path) -> None:
    run = StandIn(norm_over_the_picture(1e-5, (1, 64, 96, 3)))
    with pytest.raises(ToolError, match="takes 1 x 64 x 96 x 3, which cannot be changed to batch x 32 x 32 x 3"):
        convert(tmp_path, run, (None, 32, 32))
    assert written(tmp_path) == []


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        ({"error": "is no frozen graph"}, r"a\.pb is no frozen graph\.$"),
        ({"code": 137}, r"TensorFlow ended on .*: Killed"),
    ],
)
def test_trouble_over_there_is_one_sentence_here(tmp_path: Path, trouble: dict[str, object], sentence: str) -> None:
    with pytest.raises(ToolError, match=sentence):
        convert(tmp_path, StandIn(norm_over_the_picture(1e-5, FREE), **trouble))
    assert written(tmp_path) == []
