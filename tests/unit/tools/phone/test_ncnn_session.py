"""Networks converted by pnnx and run by ncnn, both real."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the workshop's packages are not installed")
pytest.importorskip("ncnn", reason="ncnn is not installed")
if pytest.importorskip("importlib.util").find_spec("pnnx") is None:
    pytest.skip("pnnx is not installed", allow_module_level=True)

from onnx import helper

from app.config import PROJECT_ROOT
from tests.unit.tools.phone.cards import MODELS, card
from tests.unit.tools.phone.networks import little_network, network, noise, run
from tools.phone.fixed import fixed_network, read_network
from tools.phone.ncnn_files import converted
from tools.phone.ncnn_session import NcnnSession, check_in_own_process
from tools.phone.parts import LeftOut

REFERENCE = PROJECT_ROOT.parent / "shared" / "models" / "reference"


@pytest.mark.parametrize(("half", "tolerance"), [(False, 1e-4), (True, 5e-3)])
def test_ncnn_draws_what_onnx_runtime_draws(half: bool, tolerance: float) -> None:
    model = fixed_network(read_network(MODELS / "lite_hayao.onnx"), card(), (48, 32))
    tensor = noise(1, 3, 32, 48)
    with converted(model, card(), (48, 32), half=half) as (param, weights):
        answer = NcnnSession(param, weights, "NCHW", threads=1).run(tensor)
    assert answer.shape == tensor.shape
    assert np.abs(answer - run(model, tensor)).max() < tolerance


def test_a_network_with_channels_last_is_run_as_its_card_says() -> None:
    inner = little_network([1, 3, 16, 24])
    nodes = [helper.make_node("Transpose", ["input"], ["planes"], perm=[0, 3, 1, 2])]
    for node in inner.graph.node:
        node.input[:] = ["planes" if name == "input" else name for name in node.input]
        node.output[:] = ["answer" if name == "output" else name for name in node.output]
        nodes.append(node)
    nodes.append(helper.make_node("Transpose", ["answer"], ["output"], perm=[0, 2, 3, 1]))
    constants = {item.name: onnx.numpy_helper.to_array(item) for item in inner.graph.initializer}
    model = network(nodes, constants, [1, 16, 24, 3])
    tensor = noise(1, 16, 24, 3)
    with converted(model, card(layout="NHWC"), (24, 16), half=False) as (param, weights):
        answer = NcnnSession(param, weights, "NHWC", threads=1).run(tensor)
    np.testing.assert_allclose(answer, run(model, tensor), atol=1e-5)


def test_an_operator_that_ncnn_lacks_is_told() -> None:
    model = network([helper.make_node("Det", ["input"], ["output"])], {}, [1, 3, 8, 8], answer=[1, 3])
    with pytest.raises(LeftOut, match=r"ncnn has no layer for .*[Dd]et"), converted(model, card(), (8, 8), half=False):
        pytest.fail("ncnn has no determinant")


def test_an_operator_outside_the_standard_is_not_given_to_pnnx() -> None:
    model = network([helper.make_node("Gelu", ["input"], ["output"], domain="com.microsoft")], {}, [1, 3, 8, 8])
    with pytest.raises(LeftOut, match="outside the ONNX standard"), converted(model, card(), (8, 8), half=False):
        pytest.fail("pnnx reads the standard alone")


def test_files_on_which_ncnn_dies_cost_a_process_of_its_own(tmp_path: Path) -> None:
    param, weights = tmp_path / "a.param", tmp_path / "a.bin"
    param.write_text("7767517\n2 2\nInput in0 0 1 in0\nConvolution conv 1 1 in0 out0 0=3 1=3 6=81 5=1\n")
    weights.write_bytes(b"")
    with pytest.raises(LeftOut, match=r"ncnn cannot run a\.param"):
        check_in_own_process(param, weights, (8, 8))


def test_a_network_that_answers_with_another_size_is_not_taken(tmp_path: Path) -> None:
    param, weights = tmp_path / "a.param", tmp_path / "a.bin"
    param.write_text("7767517\n2 2\nInput in0 0 1 in0\nPooling pool 1 1 in0 out0 0=1 1=2 2=2\n")
    weights.write_bytes(b"")
    with pytest.raises(LeftOut, match="its process ended"):
        check_in_own_process(param, weights, (8, 8))


def test_files_that_ncnn_cannot_load_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.param").write_text("7767517\n1 1\nNoSuchLayer in0 0 1 in0\n")
    (tmp_path / "a.bin").write_bytes(b"")
    with pytest.raises(LeftOut, match=r"ncnn cannot load a\.param"):
        NcnnSession(tmp_path / "a.param", tmp_path / "a.bin", "NCHW", threads=1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "side"), [("tiny_Cute", 64), ("Shinkai_37", 64), ("Hayao_36", 512)])
def test_ncnn_draws_what_the_authors_networks_draw(name: str, side: int) -> None:
    path = REFERENCE / f"AnimeGANv3_{name}.onnx"
    if not path.exists():
        pytest.skip("the reference networks are not here: they are their author's and not shipped")
    model = read_network(path)
    needs = card(layout="NHWC", input_name=model.graph.input[0].name, output_name=model.graph.output[0].name)
    fixed, tensor = fixed_network(model, needs, (side, side)), noise(1, side, side, 3)
    with converted(fixed, needs, (side, side), half=False) as (param, weights):
        answer = NcnnSession(param, weights, "NHWC", threads=1).run(tensor)
    # A quarter of a level.
    assert np.abs(answer - run(fixed, tensor)).max() < 2e-3
