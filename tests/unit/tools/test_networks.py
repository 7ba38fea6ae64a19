"""The networks are the ones their published weights were trained with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks are built in PyTorch")

import onnx
import onnxruntime as ort
import torch
from torch import nn

from app.config import PROJECT_ROOT
from tests.unit.tools.reference import HAYAO, REFERENCE, SHINKAI
from tests.unit.tools.torch_makers import noise, tiny_lite, weights_in
from tools.convert.epsilons import restore_epsilons
from tools.networks.animegan_v2 import AnimeGANv2, PictureNorm
from tools.networks.animegan_v3 import AnimeGANv3, enlarge, from_tensorflow
from tools.networks.lite import Lite, lite_like
from tools.networks.lite2 import lite2_like


def parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def test_lite2_takes_the_shipped_weights_and_answers_as_they_do() -> None:
    path = PROJECT_ROOT / "models" / "lite_hayao.onnx"
    weights = weights_in(path)
    network = lite2_like(weights)
    network.load_state_dict({key: weights[key] for key in network.state_dict()})
    picture = noise(1, 3, 96, 200)
    published = ort.InferenceSession(str(path)).run(None, {"input": picture.numpy()})[0]
    assert parameters(network) == 476_140
    np.testing.assert_allclose(network(picture).detach().numpy(), published, atol=1e-5)


def test_lite_is_as_wide_and_deep_as_its_weights() -> None:
    wide = Lite((8, 12, 20), (2, 3, 1))
    again = lite_like(wide.state_dict())
    assert [value.shape for value in again.state_dict().values()] == [v.shape for v in wide.state_dict().values()]


def test_an_untrained_lite_hardly_changes_a_photo() -> None:
    picture = noise(1, 3, 32, 32)
    assert float((Lite()(picture) - picture).abs().max().detach()) < 0.1


def test_lite_looks_at_a_neighbourhood_alone() -> None:
    """Tiles with their halo give the very pixels of the whole."""
    network, picture = tiny_lite(), noise(1, 3, 32, 256)
    changed = picture.clone()
    changed[..., 200:] = 1
    with torch.no_grad():
        assert torch.equal(network(picture)[..., :96], network(changed)[..., :96])


def published_v2_names() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes in the checkpoints of bryandlee/animegan2-pytorch, in their order."""
    yield from unit("block_a.0", 32, 3, 7)
    yield from unit("block_a.1", 64, 32, 3)
    yield from unit("block_a.2", 64, 64, 3)
    yield from unit("block_b.0", 128, 64, 3)
    yield from unit("block_b.1", 128, 128, 3)
    yield from unit("block_c.0", 128, 128, 3)
    yield from inverted_residual("block_c.1.layers", 128)
    for block in (2, 3, 4):
        yield from inverted_residual(f"block_c.{block}.layers", 256)
    yield from unit("block_c.5", 128, 256, 3)
    yield from unit("block_d.0", 128, 128, 3)
    yield from unit("block_d.1", 128, 128, 3)
    yield from unit("block_e.0", 64, 128, 3)
    yield from unit("block_e.1", 64, 64, 3)
    yield from unit("block_e.2", 32, 64, 7)
    yield "out_layer.0.weight", (3, 32, 1, 1)


def unit(name: str, outputs: int, inputs: int, kernel: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{name}.1.weight", (outputs, inputs, kernel, kernel)
    yield f"{name}.2.weight", (outputs,)
    yield f"{name}.2.bias", (outputs,)


def inverted_residual(name: str, inputs: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    inner = inputs * 2
    yield from unit(f"{name}.0", inner, inputs, 1)
    depthwise = list(unit(f"{name}.1", inner, 1, 3))
    yield depthwise[0]
    yield f"{name}.1.1.bias", (inner,)
    yield from depthwise[1:]
    yield f"{name}.2.weight", (256, inner, 1, 1)
    yield f"{name}.3.weight", (256,)
    yield f"{name}.3.bias", (256,)


@pytest.fixture(scope="module")
def animegan_v2() -> AnimeGANv2:
    torch.manual_seed(0)
    return AnimeGANv2().eval()


def test_animegan_v2_has_the_published_names_and_shapes(animegan_v2: AnimeGANv2) -> None:
    ours = [(name, tuple(value.shape)) for name, value in animegan_v2.state_dict().items()]
    assert ours == list(published_v2_names())
    assert parameters(animegan_v2) == 2_143_552


def test_animegan_v2_keeps_the_size(animegan_v2: AnimeGANv2) -> None:
    with torch.no_grad():
        assert animegan_v2(noise(2, 3, 40, 56)).shape == (2, 3, 40, 56)


def test_the_two_enlargements_of_animegan_v2_differ(animegan_v2: AnimeGANv2) -> None:
    other = AnimeGANv2(align_corners=False).eval()
    other.load_state_dict(animegan_v2.state_dict())
    picture = noise(1, 3, 32, 32)
    with torch.no_grad():
        assert float((animegan_v2(picture) - other(picture)).abs().max()) > 1e-3


def test_the_norm_over_the_picture_is_group_norm() -> None:
    ours, theirs = PictureNorm(6), nn.GroupNorm(1, 6)
    with torch.no_grad():
        ours.weight.copy_(torch.arange(6) / 3)
        ours.bias.copy_(torch.arange(6) - 2.0)
    theirs.load_state_dict(ours.state_dict())
    features = noise(2, 6, 9, 7) * 3 + 1
    torch.testing.assert_close(ours(features), theirs(features), atol=1e-5, rtol=1e-5)


def test_enlarging_puts_the_samples_where_tensorflow_1_does() -> None:
    row = torch.tensor([[[[1.0, 3.0, 7.0]]]])
    assert enlarge(row).tolist() == [[[[1.0, 2.0, 3.0, 5.0, 7.0, 7.0]] * 2]]


def test_animegan_v3_has_its_size() -> None:
    assert parameters(AnimeGANv3()) == 1_027_520


def animegan_v3_of(path: Path) -> AnimeGANv3:
    """AnimeGANv3 with the weights of a published graph, handed over under their author's names."""
    graph = onnx.load(path).graph
    weights = weights_in(path)
    kernels = [weights[node.input[1]] for node in graph.node if node.op_type == "Conv"]
    # The memory is used twice; the second time turned round.
    memory, turned = kernels.pop(15), kernels.pop(15)
    assert torch.equal(memory.squeeze().T, turned.squeeze())
    names = [f"generator/base/Conv{suffix}/weights:0" for suffix in numbers(14)]
    names += [f"generator/main/External_attention/Conv{suffix}/weights:0" for suffix in numbers(2)]
    names += [f"generator/main/Conv{suffix}/weights:0" for suffix in numbers(13)]
    variables = {name: kernel.permute(2, 3, 1, 0) for name, kernel in zip(names, kernels, strict=True)}
    variables["generator/main/External_attention/kernel:0"] = memory.squeeze().T[None]
    network = AnimeGANv3()
    state = {**network.state_dict(), **from_tensorflow(variables)}
    # The batch norm is already in the kernel before it: this leaves nothing for it to do.
    state["attention.norm.running_var"] = torch.full((128,), 1 - network.attention.norm.eps)
    network.load_state_dict(state)
    return network.eval()


def numbers(count: int) -> list[str]:
    """As TensorFlow tells layers of one name apart."""
    return ["", *(f"_{number}" for number in range(1, count))]


@pytest.mark.parametrize(("file", "sides"), [(SHINKAI, (64, 104)), (HAYAO, (512, 512))])
def test_animegan_v3_answers_as_the_published_graphs(file: str, sides: tuple[int, int]) -> None:
    path = REFERENCE / file
    if not path.exists():
        pytest.skip(f"{path} is not there (REFERENCE_NETWORKS names the folder)")
    model = onnx.load(path)
    restore_epsilons(model)
    session = ort.InferenceSession(model.SerializeToString())
    picture = (
        torch.nn.functional.interpolate(noise(1, 3, 8, 8), sides, mode="bilinear") * 0.8 + noise(1, 3, *sides) * 0.2
    )
    expected = session.run(None, {session.get_inputs()[0].name: picture.permute(0, 2, 3, 1).numpy()})[0]
    with torch.no_grad():
        answer = animegan_v3_of(path)(picture).permute(0, 2, 3, 1).numpy()
    assert expected.std() > 0.1
    np.testing.assert_allclose(answer, expected, atol=1e-3)


def test_variables_of_other_branches_and_of_training_are_left_out() -> None:
    variables = {
        "generator/main/Conv_12/weights:0": torch.zeros(7, 7, 32, 3),
        "generator/support/Conv_12/weights:0": torch.ones(7, 7, 32, 3),
        "generator/main/Conv_12/weights/Adam:0": torch.ones(7, 7, 32, 3),
    }
    state = from_tensorflow(variables)
    assert list(state) == ["out.weight"]
    assert state["out.weight"].shape == (3, 32, 7, 7)
    assert not state["out.weight"].any()
