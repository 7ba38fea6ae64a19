"""For each network at hand: batches give the very output of single runs, or the network runs singly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.config import PROJECT_ROOT
from app.inference.network import Network
from app.inference.registry import ModelRegistry
from app.inference.session import BareSession, OrtSession
from app.types import Tensor
from tests.unit.tools.reference import HAYAO, REFERENCE, SHINKAI

REGISTRY = ModelRegistry.load(PROJECT_ROOT / "models", with_added=False)
BUILT_IN = [(style, variant) for style in REGISTRY.styles for variant in REGISTRY.card(style).variants]
SHAPES = [(64, 96), (136, 200), (8, 8)]
"""(height, width): even and odd multiples of 8, and the least there is."""

CUTE = "AnimeGANv3_tiny_Cute.onnx"

needs_references = pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference networks are not here")


def pictures(shape: tuple[int, int], count: int) -> list[Tensor]:
    """(1, 3, H, W) each, as unlike as pictures can be: bright, dark, flat, busy."""
    random = np.random.default_rng(count)
    contrasts = np.linspace(1, 0, count, dtype=np.float32)
    busy = random.uniform(-1, 1, (count, 1, 3, *shape)).astype(np.float32)
    return [one * contrast - contrast / 2 for one, contrast in zip(busy, contrasts, strict=True)]


def built_in(style: str, variant: str) -> list[OrtSession]:
    """A built-in network with as many threads as lone runs and as runs beside others have."""
    card, folder = REGISTRY.card(style), REGISTRY.styles[style].folder
    return [OrtSession(folder / card.variants[variant].file, card, threads=threads) for threads in (2, 1)]


def reference(file: str) -> OrtSession:
    ends = BareSession(REFERENCE / file, threads=1)
    names = {"input_name": ends.inputs[0].name, "output_name": ends.outputs[0].name}
    return OrtSession(REFERENCE / file, replace(REGISTRY.card("hayao"), id=file, layout="NHWC", **names), threads=2)


@pytest.mark.parametrize(("style", "variant"), BUILT_IN)
def test_a_built_in_network_gives_each_picture_of_a_batch_what_it_gives_it_alone(style: str, variant: str) -> None:
    lone, beside = built_in(style, variant)
    assert lone.takes_batches
    for shape in SHAPES:
        for count in (2, 3, 8):
            given = pictures(shape, count)
            alone = [lone.run(tensor)[0] for tensor in given]
            assert np.array_equal(lone.run(np.concatenate(given)), alone), (shape, count)
            assert np.array_equal(beside.run(np.concatenate(given)), alone), (shape, count)


@pytest.mark.parametrize(("style", "variant"), BUILT_IN)
def test_a_built_in_network_runs_in_batches(style: str, variant: str) -> None:
    network = Network(style, *built_in(style, variant), most=8)
    for alone in (True, False):
        network.run(pictures((64, 96), 3), alone=alone)
    assert network.most == 8


@needs_references
@pytest.mark.parametrize("file", [HAYAO, CUTE])
def test_a_reference_network_of_one_picture_a_run_says_so(file: str) -> None:
    assert not reference(file).takes_batches


@needs_references
def test_the_reference_network_whose_batches_differ_runs_singly_and_gives_what_single_runs_give() -> None:
    session = reference(SHINKAI)
    assert session.takes_batches
    given = [np.ascontiguousarray(tensor.transpose(0, 2, 3, 1)) for tensor in pictures((64, 96), 3)]
    alone = [session.run(tensor) for tensor in given]
    assert not np.array_equal(session.run(np.concatenate(given)), np.concatenate(alone))
    network = Network("shinkai", session, session, most=8)
    for _ in range(2):
        assert all(map(np.array_equal, network.run(given, alone=True), alone))
    assert network.most == 1
