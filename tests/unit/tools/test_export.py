"""Exported networks: their ends, their freedom, and proof that they answer as PyTorch does."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks are exported from PyTorch")

import onnx
import onnxruntime as ort
import torch
from onnx import numpy_helper
from torch import nn

from tests.unit.tools.torch_makers import noise, tiny_lite
from tools.command import ToolError
from tools.export import OPSETS, Form, export
from tools.export_check import LARGEST_ERROR, compare, first_difference
from tools.networks.animegan_v2 import AnimeGANv2
from tools.networks.animegan_v3 import AnimeGANv3


def shape(end: onnx.ValueInfoProto) -> list[object]:
    return [axis.dim_param or axis.dim_value for axis in end.type.tensor_type.shape.dim]


@pytest.mark.parametrize("opset", OPSETS)
def test_every_opset_offered_is_written_and_answers_alike(tmp_path: Path, opset: int) -> None:
    network, path = tiny_lite(), tmp_path / "a.onnx"
    export(network, path, Form(opset))
    assert onnx.load(path).opset_import[0].version == opset
    assert all(agreement.good for agreement in compare(network, path, Form(opset, width=64, height=64)))


@pytest.mark.parametrize("opset", [OPSETS.start - 1, OPSETS.stop])
def test_other_opsets_are_refused(tmp_path: Path, opset: int) -> None:
    with pytest.raises(ToolError, match="12 to 18"):
        export(tiny_lite(), tmp_path / "a.onnx", Form(opset))


def test_names_and_free_axes_are_as_everybody_expects(tmp_path: Path) -> None:
    export(tiny_lite(), tmp_path / "a.onnx", Form())
    graph = onnx.load(tmp_path / "a.onnx").graph
    assert [(end.name, shape(end)) for end in (*graph.input, *graph.output)] == [
        ("input", ["batch", 3, "height", "width"]),
        ("output", ["batch", 3, "height", "width"]),
    ]


def test_axes_can_be_fixed(tmp_path: Path) -> None:
    export(tiny_lite(), tmp_path / "a.onnx", Form(batch=2, height=32, width=48))
    graph = onnx.load(tmp_path / "a.onnx").graph
    assert shape(graph.input[0]) == shape(graph.output[0]) == [2, 3, 32, 48]
    session = ort.InferenceSession(str(tmp_path / "a.onnx"))
    with pytest.raises(Exception, match="invalid dimensions"):
        session.run(None, {"input": noise(2, 3, 48, 32).numpy()})


def test_a_network_in_training_is_exported_as_it_serves(tmp_path: Path) -> None:
    network = nn.Sequential(nn.Conv2d(3, 3, 1), nn.Dropout(0.5)).train()
    export(network, tmp_path / "a.onnx", Form())
    picture = noise(1, 3, 16, 16)
    answer = ort.InferenceSession(str(tmp_path / "a.onnx")).run(None, {"input": picture.numpy()})[0]
    np.testing.assert_allclose(answer, network[0](picture).detach().numpy(), atol=1e-6)


def test_free_axes_are_tried_at_several_sizes_and_batches(tmp_path: Path) -> None:
    network, path = tiny_lite(), tmp_path / "a.onnx"
    export(network, path, Form())
    agreements = list(compare(network, path, Form()))
    assert [(one.width, one.height) for one in agreements] == [(256, 256), (200, 104), (384, 512)]
    assert all(one.pictures > 2 and one.good for one in agreements)
    assert {len(one.worst) for one in agreements} <= {1, 2}


@pytest.mark.parametrize(("network", "opset"), [(AnimeGANv2, 12), (AnimeGANv3, 12), (AnimeGANv3, 18)])
def test_the_animegan_networks_answer_alike(tmp_path: Path, network: type[nn.Module], opset: int) -> None:
    torch.manual_seed(0)
    made, path = network().eval(), tmp_path / "a.onnx"
    export(made, path, Form(opset))
    agreements = list(compare(made, path, Form(opset, height=64, width=64)))
    assert agreements[0].error <= LARGEST_ERROR


@pytest.fixture(scope="module")
def animegan_v2(tmp_path_factory: pytest.TempPathFactory) -> tuple[AnimeGANv2, Path]:
    torch.manual_seed(0)
    network, path = AnimeGANv2().eval(), tmp_path_factory.mktemp("v2") / "a.onnx"
    export(network, path, Form())
    return network, path


def test_norms_over_many_pixels_stay_exact(animegan_v2: tuple[AnimeGANv2, Path]) -> None:
    """GroupNorm as PyTorch exports it is ten times as far off."""
    network, path = animegan_v2
    picture = torch.linspace(-1, 1, 256 * 256).reshape(1, 1, 256, 256).repeat(1, 3, 1, 1)
    answer = ort.InferenceSession(str(path)).run(None, {"input": picture.numpy()})[0]
    with torch.no_grad():
        np.testing.assert_allclose(answer, network(picture).numpy(), atol=1e-5)


def damage(path: Path, weight: str, change: float) -> None:
    """Move all values of one weight in the file."""
    model = onnx.load(path)
    tensor = next(tensor for tensor in model.graph.initializer if tensor.name == weight)
    value = numpy_helper.to_array(tensor).copy()
    value += change
    tensor.CopyFrom(numpy_helper.from_array(value, weight))
    onnx.save(model, path)


@pytest.mark.parametrize("layer", ["stem", "enc.0.a", "mid.0.b", "u1", "dec.0.a", "t"])
def test_the_first_layer_that_differs_is_named(tmp_path: Path, layer: str) -> None:
    network, path = tiny_lite(), tmp_path / "a.onnx"
    export(network, path, Form())
    damage(path, f"{layer}.weight", 0.5)
    agreements = list(compare(network, path, Form(height=64, width=64)))
    assert not agreements[0].good
    difference = first_difference(network, path, agreements[0].worst)
    assert difference
    assert difference.module == layer
    assert difference.error > LARGEST_ERROR


def test_layers_deep_inside_are_named_in_full(animegan_v2: tuple[AnimeGANv2, Path], tmp_path: Path) -> None:
    network, path = animegan_v2[0], tmp_path / "damaged.onnx"
    shutil.copy(animegan_v2[1], path)
    damage(path, "block_c.2.layers.1.1.weight", 1)
    difference = first_difference(network, path, noise(1, 3, 32, 32).numpy())
    assert difference
    assert difference.module == "block_c.2.layers.1.1"


def test_no_layer_is_named_where_all_agree(tmp_path: Path) -> None:
    network, path = tiny_lite(), tmp_path / "a.onnx"
    export(network, path, Form())
    assert first_difference(network, path, noise(1, 3, 32, 32).numpy()) is None


def test_no_number_at_all_is_the_worst_of_differences(tmp_path: Path) -> None:
    network, path = tiny_lite(), tmp_path / "a.onnx"
    export(network, path, Form())
    damage(path, "stem.bias", float("nan"))
    assert not next(iter(compare(network, path, Form(height=64, width=64)))).good
