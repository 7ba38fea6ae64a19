"""What is done to a graph that tf2onnx made: its ends named, its lost epsilons put back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto, TensorProto, checker, helper

from tests.unit.tools.convert.makers import norm_over_the_picture
from tools.command import ToolError
from tools.convert.ends import name_ends, sides_of
from tools.convert.epsilons import EPSILON, restore_epsilons


def answer(model: ModelProto, picture: np.ndarray) -> np.ndarray:
    session = ort.InferenceSession(model.SerializeToString())
    return session.run(None, {model.graph.input[0].name: picture})[0]


def test_a_flat_picture_needs_the_epsilon_that_half_precision_lost() -> None:
    model, flat = norm_over_the_picture(0.0), np.full((1, 8, 8, 3), 0.5, np.float32)
    assert np.isnan(answer(model, flat)).all()
    assert restore_epsilons(model) == 1
    checker.check_model(model, full_check=True)
    assert not answer(model, flat).any()


def test_other_pictures_hardly_change() -> None:
    model, picture = norm_over_the_picture(0.0), np.random.default_rng(0).random((1, 8, 8, 3), np.float32)
    before = answer(model, picture)
    restore_epsilons(model)
    np.testing.assert_allclose(answer(model, picture), before, atol=1e-3)


def test_an_epsilon_that_is_there_is_left_alone() -> None:
    model = norm_over_the_picture(EPSILON)
    before = model.SerializeToString()
    assert restore_epsilons(model) == 0
    assert model.SerializeToString() == before


def test_ends_get_the_usual_names_and_work_as_before() -> None:
    model, picture = norm_over_the_picture(EPSILON), np.random.default_rng(0).random((2, 8, 4, 3), np.float32)
    before = answer(model, picture)
    name_ends(Path("a.pb"), model)
    checker.check_model(model, full_check=True)
    graph = model.graph
    assert (graph.input[0].name, graph.output[0].name) == ("input", "output")
    assert np.array_equal(answer(model, picture), before)


def test_free_axes_are_called_what_they_are() -> None:
    model = norm_over_the_picture(EPSILON, ("unk__1", 64, None, 3))
    name_ends(Path("a.pb"), model)
    axes = model.graph.input[0].type.tensor_type.shape.dim
    assert [axis.dim_param or axis.dim_value for axis in axes] == ["batch", 64, "width", 3]
    assert sides_of(model) == (None, 64, None)


@pytest.mark.parametrize("shape", [("n", 3, "h", "w"), ("n", 3), ("n", "h", "w", 1)], ids=str)
def test_what_makes_no_pictures_is_refused(shape: tuple[object, ...]) -> None:
    model = norm_over_the_picture(EPSILON)
    axes = model.graph.input[0].type.tensor_type.shape
    axes.CopyFrom(helper.make_tensor_value_info("x:0", TensorProto.FLOAT, shape).type.tensor_type.shape)
    with pytest.raises(ToolError, match="no single input"):
        name_ends(Path("a.pb"), model)
