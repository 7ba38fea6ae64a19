"""An engine's parts, put together from the real networks."""

from __future__ import annotations

import numpy as np

from app.assembly import parts_of
from app.config import Settings
from app.inference.batcher import Batcher
from app.inference.network import Network
from app.telemetry.observer import UNOBSERVED
from app.types import Tensor


class Echo:
    """A session that answers with what it is given."""

    def run(self, tensor: Tensor) -> Tensor:
        return tensor


def test_what_a_style_gives_back_while_it_is_opened_is_held_no_more() -> None:
    parts, batcher = parts_of(Settings(), UNOBSERVED), Batcher(runs=1)
    batcher.run(Network("another", Echo(), Echo(), run_bytes=100), np.zeros((1, 3, 8, 8), np.float32))
    assert batcher.held() == 100 * 64
    parts.open_style(parts.registry.styles["hayao"], batcher)
    assert batcher.held() == 0
