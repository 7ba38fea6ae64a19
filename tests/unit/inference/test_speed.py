"""How long a network takes for a picture, by trying."""

from __future__ import annotations

import pytest

from app.inference import speed
from app.inference.speed import USUAL_PIXELS, seconds_a_picture, timed
from app.types import Tensor
from tests.unit.stubs import REGISTRY, card


class Clock:
    """Moves on by what each run is said to take."""

    def __init__(self, *runs: float) -> None:
        self.now = 100.0
        self.runs = iter(runs)
        self.shapes: list[tuple[int, ...]] = []

    def run(self, tensor: Tensor) -> Tensor:
        self.shapes.append(tensor.shape)
        self.now += next(self.runs)
        return tensor


def test_the_quickest_run_counts_in_proportion_to_its_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(0.9, 0.25, 0.3)
    monkeypatch.setattr(speed.time, "perf_counter", lambda: clock.now)
    seconds = timed(clock, card("hayao"))
    assert seconds == pytest.approx(0.25 * USUAL_PIXELS / 256**2)
    assert set(clock.shapes) == {(1, 3, 256, 256)}


def test_a_real_network_takes_some_time() -> None:
    assert seconds_a_picture(REGISTRY.styles["hayao"], threads=1) > 0
