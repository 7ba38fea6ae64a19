"""What the whole service draws today is what it drew when somebody last looked."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from app.config import Settings
from app.engine import Engine
from tests.golden.pictures import GOLDEN, Golden

MEAN_TOLERANCE = 0.5
"""Mean of 255. Other processors round the networks' sums otherwise: far less than this."""

RARE_TOLERANCE = 8
"""Of 255, for all but one value in a thousand."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine.from_settings(Settings(slow_seconds=0.0))
    engine.start(warm=False)
    yield engine
    engine.close()


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_a_sample_is_drawn_as_it_was(golden: Golden, engine: Engine) -> None:
    now = cv2.imdecode(np.frombuffer(golden.made(engine), np.uint8), cv2.IMREAD_UNCHANGED)
    then = cv2.imread(str(golden.path), cv2.IMREAD_UNCHANGED)
    assert now.shape == then.shape
    difference = np.abs(now.astype(int) - then)
    spread = dict(zip((50, 90, 99, 99.9, 100), np.percentile(difference, [50, 90, 99, 99.9, 100]), strict=True))
    assert difference.mean() <= MEAN_TOLERANCE, f"mean {difference.mean():.2f}, percentiles {spread}"
    assert spread[99.9] <= RARE_TOLERANCE, f"mean {difference.mean():.2f}, percentiles {spread}"
