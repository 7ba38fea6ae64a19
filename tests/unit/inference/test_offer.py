"""Which weights may be offered: judged ones that are faster here or at most half the size."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from types import MappingProxyType

import pytest

from app.config import PROJECT_ROOT
from app.inference.card import SMALL, ModelCard, WeightFile
from app.inference.offer import pick_weights
from app.inference.registry import ModelRegistry
from app.inference.verified import Verified

FIRST = WeightFile("a.onnx", "a" * 64, 1000)
JUDGED = Verified(
    against="fp32",
    sha256="b" * 64,
    against_sha256="a" * 64,
    date=date(2026, 11, 30),
    command="python -m tools.verify a a:int8",
    pictures=15,
    size=512,
    ssim=0.99,
    psnr=48.5,
    color=0.6,
    banding=0.2,
    worst_ssim=0.98,
    worst_banding=0.4,
    time={"x86_64-vnni": 0.4, "x86_64": 0.97},
)


def card(size: int, verified: Verified | None) -> ModelCard:
    """A style with an int8 of ``size`` bytes that was judged so."""
    built_in = ModelRegistry.load(PROJECT_ROOT / "models").card("hayao")
    variants = {"fp32": FIRST, "int8": WeightFile("a8.onnx", "b" * 64, size, verified)}
    return replace(built_in, variants=MappingProxyType(variants))


def picked(size: int, verified: Verified | None, processor: str) -> tuple[str, str | None]:
    """The file that is used where int8 is asked for, and why it is another."""
    offer = pick_weights(card(size, verified), "int8", processor)
    return offer.weights.file, offer.why


@pytest.mark.parametrize(
    ("size", "processor"),
    [(900, "x86_64-vnni"), (300, "x86_64-vnni"), (300, "x86_64"), (500, "aarch64"), (510, "aarch64")],
)
def test_a_judged_variant_that_is_faster_here_or_at_most_half_the_size_is_offered(size: int, processor: str) -> None:
    assert picked(size, JUDGED, processor) == ("a8.onnx", None)


@pytest.mark.parametrize("processor", ["x86_64", "aarch64"])
@pytest.mark.parametrize("size", [511, 900])
def test_a_larger_one_that_is_not_known_to_be_faster_here_is_not(size: int, processor: str) -> None:
    why = f"it is more than half the size of fp32 and not known to be faster on {processor}"
    assert picked(size, JUDGED, processor) == ("a.onnx", why)


def test_one_that_nobody_has_judged_is_not_however_small() -> None:
    assert picked(10, None, "x86_64-vnni") == ("a.onnx", "its card holds no verify result for it")


@pytest.mark.parametrize("change", [{"sha256": "c" * 64}, {"against_sha256": "c" * 64}, {"against": "fp64"}])
def test_a_judgement_of_other_files_does_not_count(change: dict[str, str]) -> None:
    stale = replace(JUDGED, **change)  # type: ignore[arg-type]
    assert picked(10, stale, "x86_64-vnni") == ("a.onnx", "its card's verify result is of other files")


def test_the_first_variant_needs_no_judgement() -> None:
    assert pick_weights(card(10, None), "fp32", "aarch64").weights is FIRST


def test_what_a_card_holds_of_the_built_in_styles_is_of_the_files_that_are_there() -> None:
    for style in ModelRegistry.load(PROJECT_ROOT / "models").styles.values():
        for name, weights in style.card.variants.items():
            if weights.verified is not None:
                assert pick_weights(style.card, name, "aarch64").weights is weights, (style.card.id, name)


def test_a_smaller_network_is_no_likeness_of_the_first_and_needs_no_judgement() -> None:
    small = WeightFile("a_small.onnx", "c" * 64, 900)
    both = replace(card(300, JUDGED), variants=MappingProxyType({"fp32": FIRST, SMALL: small}))
    assert pick_weights(both, SMALL, "x86_64").weights is small
    assert pick_weights(card(300, JUDGED), SMALL, "x86_64").weights is FIRST
