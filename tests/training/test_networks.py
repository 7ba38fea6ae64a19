"""The students: what is learnt with branches is what is shipped without them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch (requirements-tools.txt) is not installed")

from tools.networks.lite2 import SIZES, Lite2, lite2_like
from training.networks import branched, merged

LARGEST_FP16 = 1_000_000
"""Bytes of a style's FP16 file."""


def learnt(size: str) -> Lite2:
    """A network whose branches have all moved."""
    torch.manual_seed(0)
    network = branched(Lite2(SIZES[size]))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    return network


@pytest.mark.parametrize("size", SIZES)
def test_merged_it_answers_as_with_its_branches(size: str) -> None:
    network, x = learnt(size), torch.rand(2, 3, 40, 56) * 2 - 1
    with torch.no_grad():
        assert (merged(network)(x) - network(x)).abs().max() < 1e-5


def test_branches_count() -> None:
    network, x = learnt("s"), torch.rand(1, 3, 32, 32)
    plain = Lite2(SIZES["s"])
    kernels = {name.replace("parametrizations.", "").replace(".original", ""): value
               for name, value in network.state_dict().items()}  # fmt: skip
    plain.load_state_dict({name: kernels[name] for name in plain.state_dict()})
    with torch.no_grad():
        assert (plain(x) - network(x)).abs().max() > 1e-3


@pytest.mark.parametrize("size", SIZES)
def test_sides_are_multiples_of_8_and_stay(size: str) -> None:
    with torch.no_grad():
        assert Lite2(SIZES[size])(torch.zeros(1, 3, 8, 24)).shape == (1, 3, 8, 24)


@pytest.mark.parametrize("size", ["s", "m"])
def test_a_shipped_size_is_under_a_megabyte_in_fp16(size: str) -> None:
    assert 2 * sum(parameter.numel() for parameter in Lite2(SIZES[size]).parameters()) < LARGEST_FP16


@pytest.mark.parametrize("size", SIZES)
def test_the_size_is_read_from_the_weights(size: str) -> None:
    assert lite2_like(Lite2(SIZES[size]).state_dict()).size == SIZES[size]


def test_a_place_far_away_changes_nothing() -> None:
    network, x = merged(learnt("m")), torch.zeros(1, 3, 32, 640)
    other = x.clone()
    other[..., :16] = 1
    with torch.no_grad():
        assert torch.equal(network(x)[..., 320:], network(other)[..., 320:])
