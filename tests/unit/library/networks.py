"""Networks made for one purpose each, of a node or two, as ONNX files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, compose, helper, numpy_helper

from app.config import PROJECT_ROOT
from app.inference.session import session_options

HAYAO = PROJECT_ROOT / "models" / "lite_hayao.onnx"

Shape = Sequence[int | str]
ANY_NCHW: Shape = (1, 3, "h", "w")
ANY_NHWC: Shape = (1, "h", "w", 3)


def save(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    *,
    shape: Shape = ANY_NCHW,
    output: Shape | None = None,
    kind: int = TensorProto.FLOAT,
    more_inputs: Sequence[str] = (),
    more_outputs: Sequence[tuple[str, Shape]] = (),
    weights: Sequence[onnx.TensorProto] = (),
) -> Path:
    """A network of ``nodes`` from ``input`` to ``output``."""
    inputs = [helper.make_tensor_value_info(name, kind, shape) for name in ("input", *more_inputs)]
    outputs = [helper.make_tensor_value_info("output", kind, shape if output is None else output)]
    outputs += [helper.make_tensor_value_info(name, kind, its) for name, its in more_outputs]
    graph = helper.make_graph(list(nodes), "test", inputs, outputs, list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def node(
    operator: str, inputs: Sequence[str] = ("input",), output: str = "output", **attributes: Any
) -> onnx.NodeProto:
    return helper.make_node(operator, list(inputs), [output], **attributes)


def constant(name: str, values: Any, kind: Any = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(values, kind), name)


def as_ort(source: Path, target: Path) -> Path:
    """``source`` in ONNX Runtime's own format."""
    options = session_options(1)
    options.optimized_model_filepath = str(target)
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    return target


def identity(path: Path, shape: Shape = ANY_NCHW, *, kind: int = TensorProto.FLOAT) -> Path:
    return save(path, [node("Identity")], shape=shape, kind=kind)


def looking(path: Path, far: int, *, shape: Shape = ANY_NCHW) -> Path:
    """Each pixel becomes the mean of itself and eight others ``far`` px away."""
    weights = constant("w", np.full((3, 1, 3, 3), 1 / 9))
    step = node("Conv", ("input", "w"), group=3, dilations=[far, far], pads=[far] * 4)
    return save(path, [step], shape=shape, weights=[weights])


def normalised(path: Path) -> Path:
    """Normalises over the whole picture: no tile can be exact."""
    weights = [constant("scale", [0.25] * 3), constant("bias", [0.5] * 3)]
    return save(path, [node("InstanceNormalization", ("input", "scale", "bias"))], weights=weights)


def levelled(path: Path, *, share: float = 0.5) -> Path:
    """``share`` of the answer is the mean of the whole picture, by an operator that may as well run over channels."""
    steps = [
        node("ReduceMean", output="mean", axes=[2, 3], keepdims=1),
        node("Mul", ("mean", "share"), "some"),
        node("Add", ("some", "input")),
    ]
    return save(path, steps, weights=[constant("share", share)])


def pooled_for_nothing(path: Path) -> Path:
    """Pools over the whole picture, and then makes nothing of it."""
    steps = [
        node("GlobalAveragePool", output="mean"),
        node("Mul", ("mean", "nothing"), "none"),
        node("Add", ("none", "input")),
    ]
    return save(path, steps, weights=[constant("nothing", 0.0)])


def channel_mean(path: Path) -> Path:
    """A mean that runs over the channels alone, which is no look at the whole picture; half of it is the picture."""
    steps = [
        node("ReduceMean", output="grey", axes=[1], keepdims=1),
        node("Add", ("grey", "input"), "twice"),
        node("Mul", ("twice", "half")),
    ]
    return save(path, steps, weights=[constant("half", 0.5)])


def strided(path: Path, stride: int, *, padded: bool = False) -> Path:
    """Down by ``stride`` and up again by nearest pixels: takes multiples of ``stride``, or, ``padded``, of 8."""
    weights = np.zeros((3, 3, stride, stride), np.float32)
    weights[range(3), range(3)] = 1 / stride**2
    down = node("Conv", ("input", "w"), "small", kernel_shape=[stride, stride], strides=[stride, stride])
    scales = constant("scales", [1, 1, stride, stride])
    up = node("Resize", ("small", "", "scales"), "large", mode="nearest")
    # The sum with the input fails where the sides do not divide.
    last = [node("Add", ("large", "input"), "sum"), node("Mul", ("sum", "half"))]
    steps, more = [down, up, *last], [constant("w", weights), scales, constant("half", 0.5)]
    return _padding(path, steps, more, stride) if padded else save(path, steps, weights=more)


def _padding(path: Path, steps: list[onnx.NodeProto], weights: list[onnx.TensorProto], stride: int) -> Path:
    """Pads to a whole stride inside, and crops what comes out: any side runs, tiles still have a phase."""
    steps[0].input[0] = "padded"
    steps[2] = node("Slice", ("large", "starts", "size", "axes"), "cropped")
    before = [
        node("Pad", ("input", "pads"), "padded", mode="reflect"),
        node("Shape", output="shape"),
        node("Slice", ("shape", "two", "four", "first"), "size"),
    ]
    last = [node("Add", ("cropped", "input"), "sum"), node("Mul", ("sum", "half"))]
    integers = {
        "pads": [0] * 6 + [stride - 1] * 2,
        "starts": [0, 0],
        "axes": [2, 3],
        "two": [2],
        "four": [4],
        "first": [0],
    }
    made = [constant(name, values, np.int64) for name, values in integers.items()]
    return save(path, [*before, *steps[:3], *last], weights=[*weights, *made])


def enlarging(path: Path) -> Path:
    return save(
        path, [node("Resize", ("input", "", "s"))], output=(1, 3, "H", "W"), weights=[constant("s", [1, 1, 2, 2])]
    )


def classifier(path: Path) -> Path:
    steps = [node("GlobalAveragePool", output="pooled"), node("Flatten", ("pooled",))]
    return save(path, steps, output=(1, 3))


def grey(path: Path) -> Path:
    return save(path, [node("ReduceMean", axes=[1], keepdims=1)], output=(1, 1, "h", "w"))


def turned(path: Path) -> Path:
    """NCHW in, NHWC out."""
    return save(path, [node("Transpose", perm=[0, 2, 3, 1])], output=ANY_NHWC)


def two_inputs(path: Path) -> Path:
    return save(path, [node("Add", ("input", "style"))], more_inputs=["style"])


def with_a_mask(path: Path) -> Path:
    """The first output is a mask, the second the picture."""
    steps = [node("ReduceMean", axes=[1], keepdims=1), node("Identity", output="picture")]
    return save(path, steps, output=(1, 1, "h", "w"), more_outputs=[("picture", ANY_NCHW)])


def constant_grey(path: Path) -> Path:
    """Draws the same whatever it is shown."""
    return save(path, [node("Mul", ("input", "nothing"))], weights=[constant("nothing", 0.0)])


def in_ranges(path: Path, low: float, high: float, out_low: float, out_high: float, *, end: str | None = None) -> Path:
    """lite_hayao, which takes and gives [-1, 1], behind and before a change of range. ``end``: its last operator."""
    model = onnx.load(HAYAO)
    steps_in = [node("Mul", ("input", "a"), "scaled"), node("Add", ("scaled", "b"), "image")]
    steps_out = [node("Mul", ("drawn", "c"), "rescaled"), node("Add", ("rescaled", "d"))]
    if end is not None:
        steps_out[-1].output[0] = "open"
        steps_out.append(node(end, ("open",)))
    scale, out_scale = 2 / (high - low), (out_high - out_low) / 2
    before = _part(steps_in, "input", "image", a=scale, b=-1 - low * scale)
    after = _part(steps_out, "drawn", "output", c=out_scale, d=out_low + out_scale)
    model = compose.add_prefix(model, "net/")
    model = compose.merge_models(before, model, [("image", "net/input")])
    model = compose.merge_models(model, after, [("net/output", "drawn")])
    path.write_bytes(model.SerializeToString())
    return path


def _part(steps: list[onnx.NodeProto], start: str, end: str, **numbers: float) -> onnx.ModelProto:
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ("batch", 3, "height", "width")) for name in (start, end)
    ]
    weights = [constant(name, number) for name, number in numbers.items()]
    graph = helper.make_graph(steps, start, ends[:1], ends[1:], weights)
    original = onnx.load(HAYAO)
    return helper.make_model(graph, opset_imports=list(original.opset_import), ir_version=original.ir_version)
