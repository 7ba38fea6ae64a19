"""Run by TensorFlow's own environment, alone: ``python -I worker.py JOB.json``; nothing of the project is imported.

A job is ``{"task": "convert" or "run", "kind": "graphdef" or "tflite", "source", "answer", ...}``. What is found goes
to ``answer`` as JSON; trouble of the file goes there as ``{"error": sentence}``.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
import tf2onnx

# Never a picture's way out of a network.
_NO_OUTPUTS = frozenset({"Assert", "Const", "NoOp", "Placeholder", "PlaceholderWithDefault"})


class JobError(Exception):
    """The file cannot be used; ``str(error)`` says why."""


def read_graph(source: str) -> Any:
    """The GraphDef in ``source``."""
    graph = tf.compat.v1.GraphDef()
    try:
        graph.ParseFromString(Path(source).read_bytes())
    # Protobuf's error has no home that stays.
    except Exception as error:
        raise JobError("is no frozen TensorFlow graph, or a damaged one") from error
    if not graph.node:
        raise JobError("is a TensorFlow graph without a node")
    if any(node.op in ("VariableV2", "VarHandleOp") for node in graph.node):
        raise JobError("is a graph whose variables are kept elsewhere: freeze it first")
    return graph


def ends_of(graph: Any, given: dict[str, str | None]) -> tuple[str, str]:
    """The names of the tensors where a picture goes in and comes out."""
    used = {name.split(":")[0].lstrip("^") for node in graph.node for name in node.input}
    inputs = [node.name for node in graph.node if node.op == "Placeholder" and node.name in used]
    outputs = [node.name for node in graph.node if node.name not in used and node.op not in _NO_OUTPUTS]
    names = {node.name for node in graph.node}
    return _end("input", given["input"], inputs, names), _end("output", given["output"], outputs, names)


def _end(side: str, given: str | None, found: list[str], names: set[str]) -> str:
    name = given.split(":")[0] if given else found[0] if len(found) == 1 else None
    if name is None:
        listed = ", ".join(found[:8]) or "none"
        raise JobError(f"has {len(found)} possible {side}s ({listed}): name one with --{side}")
    if name not in names:
        raise JobError(f"has no node {name} to be its {side}")
    return f"{name}:0"


def convert(job: dict[str, Any]) -> dict[str, Any]:
    """Write ``job["out"]``, ONNX as tf2onnx makes it; the names of both ends."""
    try:
        if job["kind"] == "tflite":
            _interpreter(job["source"])
            tf2onnx.convert.from_tflite(job["source"], opset=job["opset"], output_path=job["out"])
            return {}
        graph = read_graph(job["source"])
        entry, exit_ = ends_of(graph, job["ends"])
        shape = {entry: job["shape"]} if job["shape"] else None
        tf2onnx.convert.from_graph_def(
            graph,
            input_names=[entry],
            output_names=[exit_],
            opset=job["opset"],
            shape_override=shape,
            output_path=job["out"],
        )
    except JobError:
        raise
    # tf2onnx raises what TensorFlow, protobuf and its own checks raise.
    except Exception as error:
        raise JobError(f"cannot be converted by tf2onnx: {_first_line(error)}") from error
    return {"input": entry, "output": exit_}


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Answers of TensorFlow itself to the arrays in ``job["pictures"]`` (.npz), to ``job["answers"]``."""
    with np.load(job["pictures"]) as pictures:
        batches = [pictures[name] for name in pictures.files]
    answers = _run_tflite(job["source"], batches) if job["kind"] == "tflite" else _run_graph(job, batches)
    np.savez(job["answers"], *answers)
    return {}


def _run_graph(job: dict[str, Any], batches: list[Any]) -> list[Any]:
    entry, exit_ = ends_of(read_graph(job["source"]), job["ends"])
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(read_graph(job["source"]), name="")
        with tf.compat.v1.Session(graph=graph) as session:
            return [session.run(exit_, {entry: batch}) for batch in batches]


def _interpreter(source: str) -> Any:
    try:
        interpreter = tf.lite.Interpreter(source, num_threads=1)
        interpreter.allocate_tensors()
    except (ValueError, RuntimeError) as error:
        raise JobError("is no TFLite file, or a damaged one") from error
    return interpreter


def _run_tflite(source: str, batches: list[Any]) -> list[Any]:
    interpreter = _interpreter(source)
    entry, exit_ = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
    answers = []
    for batch in batches:
        interpreter.set_tensor(entry, batch)
        interpreter.invoke()
        answers.append(interpreter.get_tensor(exit_).copy())
    return answers


def main() -> None:
    """Do the job named on the command line."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        answer = {"convert": convert, "run": run}[job["task"]](job)
    except JobError as error:
        answer = {"error": str(error)}
    Path(job["answer"]).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
