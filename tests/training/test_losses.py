"""Each term of the loss sees what it is there for."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch (requirements-tools.txt) is not installed")

from tools.measures.similarity import ssim as measured_ssim
from training.losses import LossWeights, black_hat, loss_terms, luma, ssim, total


def paper() -> torch.Tensor:
    return torch.linspace(0.2, 0.8, 64).expand(1, 3, 64, 64).clone()


def inked() -> torch.Tensor:
    drawing = paper()
    drawing[..., 30:32] = -0.8
    return drawing


def test_the_same_costs_nothing() -> None:
    terms = loss_terms(inked(), inked(), 0, 1.6)
    assert max(abs(float(term)) for term in terms.values()) < 1e-6


@pytest.mark.parametrize("name", ["nearness", "slopes", "tones", "structure", "lines"])
def test_a_missing_line_costs_in_every_term(name: str) -> None:
    assert float(loss_terms(paper(), inked(), 1, 1.6)[name]) > 1e-3


def test_a_missing_line_costs_more_than_one_too_many() -> None:
    missing, needless = (float(loss_terms(*pair, 0, 1.6)["lines"]) for pair in ((paper(), inked()), (inked(), paper())))
    assert missing == pytest.approx(1.6 * needless, rel=1e-5)


def test_tone_alone_is_no_matter_of_lines_or_slopes() -> None:
    terms = loss_terms(paper() - 0.1, paper(), 0, 1.6)
    assert float(terms["tones"]) == pytest.approx(0.1, abs=1e-6)
    assert float(terms["lines"]) < 1e-6
    assert float(terms["slopes"]) < 1e-6


def test_black_hat_shows_dark_lines_alone() -> None:
    light = paper()
    light[..., 30:32] = 1.5
    assert float(black_hat(luma(inked()))[..., 30:32].min()) > 1
    assert float(black_hat(luma(light)).abs()[..., 8:56].max()) < 0.1


def test_structure_is_the_ssim_that_judges() -> None:
    random = np.random.default_rng(0)
    a = random.integers(0, 256, (48, 64, 3)).astype(np.uint8)
    b = np.clip(a + random.normal(0, 20, a.shape), 0, 255).astype(np.uint8)
    planes = [torch.from_numpy(x.astype(np.float32) / 127.5 - 1).permute(2, 0, 1)[:, None] for x in (a, b)]
    # The judge takes the range 255 where values span 2: the same constants, scaled.
    assert float(ssim(*planes)) == pytest.approx(measured_ssim(a, b), abs=1e-3)


def test_weights_count() -> None:
    terms = loss_terms(paper(), inked(), 0, 1.6)
    more = total(terms, LossWeights(lines=2.0)) - total(terms, LossWeights(lines=1.0))
    assert float(more) == pytest.approx(float(terms["lines"]), rel=1e-4)
