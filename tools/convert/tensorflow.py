"""TensorFlow's frozen graphs and TFLite files to ONNX, proved against TensorFlow itself before the file appears."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import numpy as np
import onnx

from app.inference.session import session_options
from app.types import Tensor
from tools.command import ToolError, whole_file
from tools.convert.ends import name_ends, sides_of
from tools.convert.environment import ISOLATED, Run, run_quietly, tensorflow_python
from tools.convert.epsilons import EPSILON, restore_epsilons
from tools.convert.failure import CheckFailed
from tools.convert.kinds import kind_of
from tools.convert.words import agreement_line
from tools.probes import as_tensor, flat, probes

# After session_options, whose module keeps ONNX Runtime from reporting home.
import onnxruntime as ort  # isort: skip

WORKER: Final = Path(__file__).with_name("worker.py")

LARGEST_ERROR: Final = 1 / 255
"""Of values in [-1, 1]: half of one of 255 steps. Each side adds up whole pictures in float32, in its own order."""

SIZES: Final = ((256, 256), (200, 104))
"""Width and height where the sides are free; multiples of 8."""

_PICTURES: Final = 3
_THREADS: Final = 2

Tell: TypeAlias = Callable[[str], None]

Shape: TypeAlias = tuple[int | None, int | None, int | None]
"""Batch, height and width; None is any."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Names of the tensors where pictures go in and come out; None finds them."""

    input: str | None = None
    output: str | None = None


def convert_tensorflow(
    source: Path, target: Path, opset: int, shape: Shape, ends: Ends, *, cache: Path, tell: Tell, run: Run = run_quietly
) -> None:
    """Write ``target``, NHWC, from ``source``; ``tell`` takes each line on what happened.

    Raises ToolError for files and options that do not work out, CheckFailed where ONNX Runtime does not answer as
    TensorFlow does; then there is no file.
    """
    kind = kind_of(source)
    python = tensorflow_python(cache, tell=tell, run=run)
    with whole_file(target) as part, TemporaryDirectory() as folder:
        job = _Jobs(python, source, Path(folder), {"kind": kind, "source": str(source), "ends": asdict(ends)}, run)
        job.do("convert", out=str(part), opset=opset, shape=_override(shape))
        model = onnx.load(part)
        name_ends(source, model)
        _check_shape(source, sides_of(model), shape)
        onnx.save(model, part)
        tell(f"{target.name}: opset {opset}, NHWC, {_words(sides_of(model))}, {part.stat().st_size / 1e6:.2f} MB")
        _prove(job, part, tell)
        _mend(model, part, tell)


def _override(shape: Shape) -> list[int | None] | None:
    return [*(-1 if side is None else side for side in shape), 3] if any(shape) else None


def _check_shape(source: Path, found: Shape, wanted: Shape) -> None:
    for side, asked in zip(found, wanted, strict=True):
        if asked is not None and side != asked:
            raise ToolError(f"{source} takes {_words(found)}, which cannot be changed to {_words(wanted)}.")


def _words(shape: Shape) -> str:
    batch, height, width = shape
    return f"{batch or 'batch'} x {height or 'height'} x {width or 'width'} x 3"


class _Jobs:
    """Work for the other environment on one file."""

    def __init__(self, python: Path, source: Path, folder: Path, common: Mapping[str, Any], run: Run) -> None:
        self._python = python
        self._source = source
        self._folder = folder
        self._common = common
        self._run = run

    def do(self, task: str, **details: Any) -> None:
        """Have ``task`` done. Raises ToolError with what the worker says of the file."""
        job, answer = self._folder / "job.json", self._folder / "answer.json"
        answer.unlink(missing_ok=True)
        job.write_text(json.dumps({**self._common, "task": task, "answer": str(answer), **details}), encoding="utf-8")
        done = self._run((str(self._python), ISOLATED, str(WORKER), str(job)))
        if done.returncode or not answer.exists():
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise ToolError(f"TensorFlow ended on {self._source}: {last.rstrip('.')}.")
        error = json.loads(answer.read_text(encoding="utf-8")).get("error")
        if error:
            raise ToolError(f"{self._source} {error}.")

    def answers(self, batches: list[Tensor]) -> list[Tensor]:
        """What TensorFlow answers to ``batches``."""
        pictures, answers = self._folder / "pictures.npz", self._folder / "answers.npz"
        np.savez(pictures, *batches)
        self.do("run", pictures=str(pictures), answers=str(answers))
        with np.load(answers) as found:
            return [found[name] for name in found.files]


def _prove(job: _Jobs, part: Path, tell: Tell) -> None:
    batches = _batches(sides_of(onnx.load(part)))
    answers = job.answers(batches)
    session = _session(part)
    tell(f"against TensorFlow, largest difference (at most {LARGEST_ERROR:.4f}):")
    gaps = [
        float(np.abs(_run_onnx(session, batch) - answer).max()) for batch, answer in zip(batches, answers, strict=True)
    ]
    for batch, gap in zip(batches, gaps, strict=True):
        tell(agreement_line(batch.shape[2], batch.shape[1], len(batch), gap))
    # Written so that NaN fails.
    if not all(gap <= LARGEST_ERROR for gap in gaps):
        raise CheckFailed(f"ONNX Runtime differs from TensorFlow by {max(gaps):.1e}.")


def _batches(shape: Shape) -> list[Tensor]:
    batch, height, width = shape
    sizes = dict.fromkeys((width or across, height or down) for across, down in SIZES)
    pictures = [as_tensor(probes(*size)) for size in sizes]
    # A fixed batch is one picture in every published file; a larger one is filled with copies.
    places = [np.arange(batch or _PICTURES) % len(tensor) for tensor in pictures]
    return [_as_nhwc(tensor[place]) for tensor, place in zip(pictures, places, strict=True)]


def _as_nhwc(tensor: Tensor) -> Tensor:
    return np.ascontiguousarray(tensor.transpose(0, 2, 3, 1))


def _session(path: Path) -> ort.InferenceSession:
    return ort.InferenceSession(str(path), session_options(_THREADS), providers=["CPUExecutionProvider"])


def _run_onnx(session: ort.InferenceSession, batch: Tensor) -> Tensor:
    answer: Tensor = session.run(None, {session.get_inputs()[0].name: batch})[0]
    return answer


def _mend(model: onnx.ModelProto, part: Path, tell: Tell) -> None:
    """Put lost epsilons back, and try the picture that shows whether any is missing."""
    count = restore_epsilons(model)
    if count:
        onnx.save(model, part)
        tell(f"norms whose epsilon was lost to half precision: {count}; {EPSILON:g} is back, flat pictures gave NaN")
    batch, height, width = sides_of(model)
    grey = _as_nhwc(np.repeat(flat(width or SIZES[0][0], height or SIZES[0][1]), batch or 1, axis=0))
    if not np.isfinite(_run_onnx(_session(part), grey)).all():
        raise CheckFailed("A picture without variation comes out as NaN.")
