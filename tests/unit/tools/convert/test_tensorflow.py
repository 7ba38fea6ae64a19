"""TensorFlow's files through its own environment, which is made when the first of these tests runs (slow: 1.6 GB)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from tests.unit.tools.reference import HAYAO, REFERENCE, SHINKAI
from tools.command import ToolError
from tools.convert.environment import DEFAULT_CACHE, tensorflow_python
from tools.convert.tensorflow import Ends, convert_tensorflow
from tools.probes import as_tensor, probes

pytestmark = pytest.mark.slow

MAKER = """
import sys, numpy as np, tensorflow as tf
folder = sys.argv[1]
rng = np.random.default_rng(0)
kernel = rng.normal(0, 0.2, (3, 3, 3, 3)).astype("float32")
with tf.Graph().as_default() as graph:
    picture = tf.compat.v1.placeholder(tf.float32, (None, None, None, 3), name="photo")
    mean, variance = tf.nn.moments(picture, (1, 2), keepdims=True)
    normal = (picture - mean) / tf.sqrt(variance + 1e-5)
    one = tf.tanh(tf.nn.conv2d(normal, kernel, 1, "SAME"), name="painting")
    tf.io.write_graph(graph.as_graph_def(), folder, "one.pb", as_text=False)
    tf.identity(one * 0.5, name="small")
    tf.identity(one + picture, name="mixed")
    tf.io.write_graph(graph.as_graph_def(), folder, "two.pb", as_text=False)
@tf.function(input_signature=[tf.TensorSpec((1, 64, 64, 3), tf.float32)])
def paint(picture):
    return tf.tanh(tf.nn.conv2d(picture, kernel, 1, "SAME"))
lite = tf.lite.TFLiteConverter.from_concrete_functions([paint.get_concrete_function()])
open(f"{folder}/one.tflite", "wb").write(lite.convert())
"""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small files as TensorFlow writes them."""
    folder = tmp_path_factory.mktemp("graphs")
    python = tensorflow_python(DEFAULT_CACHE, tell=print)
    subprocess.run((str(python), "-I", "-c", MAKER, str(folder)), check=True, capture_output=True)
    return folder


def convert(source: Path, target: Path, *, shape=(None, None, None), ends: Ends | None = None, opset: int = 17) -> str:
    """What the conversion told."""
    told: list[str] = []
    convert_tensorflow(source, target, opset, shape, ends or Ends(), cache=DEFAULT_CACHE, tell=told.append)
    return "\n".join(told)


def axes(path: Path) -> list[object]:
    return [axis.dim_param or axis.dim_value for axis in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]


def test_a_frozen_graph_is_converted_and_proved(graphs: Path, tmp_path: Path) -> None:
    told = convert(graphs / "one.pb", tmp_path / "one.onnx", opset=13)
    assert "NHWC, batch x height x width x 3" in told
    assert "against TensorFlow" in told
    assert axes(tmp_path / "one.onnx") == ["batch", "height", "width", 3]
    assert onnx.load(tmp_path / "one.onnx").opset_import[0].version == 13


def test_sides_of_a_frozen_graph_can_be_fixed(graphs: Path, tmp_path: Path) -> None:
    convert(graphs / "one.pb", tmp_path / "one.onnx", shape=(1, 64, 96))
    assert axes(tmp_path / "one.onnx") == [1, 64, 96, 3]


def test_of_several_outputs_one_must_be_named(graphs: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"2 possible outputs \(small, mixed\): name one with --output"):
        convert(graphs / "two.pb", tmp_path / "two.onnx")
    convert(graphs / "two.pb", tmp_path / "two.onnx", ends=Ends(output="small:0"))
    with pytest.raises(ToolError, match="no node huge"):
        convert(graphs / "two.pb", tmp_path / "huge.onnx", ends=Ends(output="huge"))
    assert [path.name for path in tmp_path.iterdir()] == ["two.onnx"]


def test_a_tflite_file_is_converted_as_it_is(graphs: Path, tmp_path: Path) -> None:
    convert(graphs / "one.tflite", tmp_path / "one.onnx")
    assert axes(tmp_path / "one.onnx") == [1, 64, 64, 3]
    with pytest.raises(ToolError, match="takes 1 x 64 x 64 x 3, which cannot be changed"):
        convert(graphs / "one.tflite", tmp_path / "other.onnx", shape=(None, 32, 32))


@pytest.mark.parametrize("name", ["one.pb", "one.tflite"])
def test_a_truncated_file_is_refused(graphs: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((graphs / name).read_bytes()[:200])
    with pytest.raises(ToolError, match="or a damaged one"):
        convert(tmp_path / name, tmp_path / "out" / "a.onnx")
    assert list((tmp_path / "out").iterdir()) == []


def reference(name: str) -> Path:
    path = REFERENCE / name
    if not path.exists():
        pytest.skip(f"{path} is not there (REFERENCE_NETWORKS names the folder)")
    return path


@pytest.mark.parametrize(
    ("source", "converted", "size", "tolerance"),
    [
        ("AnimeGANv3_Shinkai_37.pb", SHINKAI, (256, 256), 1e-3),
        # Its epsilons are 0 in the reference.
        ("AnimeGANv3_Hayao_36_QUANTIZED_fp16.tflite", HAYAO, (512, 512), 2e-2),
    ],
)
def test_published_files_answer_as_their_reference(
    source: str, converted: str, size: tuple[int, int], tolerance: float, tmp_path: Path
) -> None:
    told = convert(reference(source), tmp_path / "a.onnx")
    assert ("lost to half precision: 26" in told) == (converted == HAYAO)
    picture = np.ascontiguousarray(as_tensor(probes(*size)[:1]).transpose(0, 2, 3, 1))
    sessions = [ort.InferenceSession(str(path)) for path in (tmp_path / "a.onnx", reference(converted))]
    ours, theirs = (session.run(None, {session.get_inputs()[0].name: picture})[0] for session in sessions)
    np.testing.assert_allclose(ours, theirs, atol=tolerance)
