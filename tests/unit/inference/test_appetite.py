"""How much memory runs take is found out by a first one."""

from __future__ import annotations

import numpy as np
import pytest

from app.config import PROJECT_ROOT
from app.inference.appetite import LEAST_RUN_BYTES, run_bytes
from app.inference.registry import ModelRegistry
from app.inference.session import OrtSession
from app.types import Tensor

REGISTRY = ModelRegistry.load(PROJECT_ROOT / "models", with_added=False)


class Hungry:
    """Keeps so many bytes for each pixel."""

    def __init__(self, bytes: int) -> None:
        self._bytes = bytes
        self.kept: np.ndarray = np.empty(0, np.uint8)

    def run(self, tensor: Tensor) -> Tensor:
        self.kept = np.ones(self._bytes * tensor.size // 3, np.uint8)
        return tensor


def test_it_is_what_the_process_grows_by() -> None:
    assert run_bytes(Hungry(1000), REGISTRY.card("hayao")) == pytest.approx(1000, rel=0.1)


def test_less_than_any_network_takes_is_not_believed() -> None:
    assert run_bytes(Hungry(1), REGISTRY.card("hayao")) == LEAST_RUN_BYTES


@pytest.mark.parametrize("name", REGISTRY.styles)
def test_a_built_in_network_takes_no_more_than_a_little_above_the_least(name: str) -> None:
    style = REGISTRY.styles[name]
    session = OrtSession(style.path, style.card, threads=2)
    session.release()
    assert run_bytes(session, style.card) < 1.25 * LEAST_RUN_BYTES
