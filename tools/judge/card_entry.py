"""What a judgement leaves in a card: the ``verified`` table of a variant."""

from __future__ import annotations

from app.inference.processor import processor_kind
from tools.command import ToolError
from tools.judge.outcome import Outcome

_KEPT = {"ssim": 4, "psnr": 1, "banding": 2, "color": 2}
"""Measures that go into the card, with their decimal places."""


def card_entry(outcome: Outcome) -> str:
    """TOML to put under the variant of models.toml or card.toml that B is.

    Raises ToolError where B did not pass, or A and B are no two variants of one style: a card cannot say that.
    """
    a, b = outcome.a, outcome.b
    if a.card is not b.card or a.variant == b.variant:
        raise ToolError("Only one variant of a style against another goes into a card, like: hayao:fp32 hayao:int8.")
    if not outcome.passed:
        raise ToolError(f"{b.name} did not pass: nothing goes into its card.")
    comparison = outcome.comparison
    numbers = {key: round(comparison.mean[key], digits) for key, digits in _KEPT.items()}
    worst = {f"worst_{key}": round(comparison.worst[key], _KEPT[key]) for key in ("ssim", "banding")}
    lines = [
        f"[{'' if b.added else 'styles.'}variants.{b.variant}.verified]",
        f'against = "{a.variant}"',
        f'sha256 = "{b.weights.sha256}"',
        f'against_sha256 = "{a.weights.sha256}"',
        f"date = {outcome.day.isoformat()}",
        f'command = "{outcome.command}"',
        f"pictures = {len(comparison.rows)}",
        f"size = {outcome.size}",
        *(f"{key} = {number}" for key, number in (numbers | worst).items()),
        f"time = {{ {processor_kind()} = {comparison.time_ratio:.2f} }}",
    ]
    return "\n".join(lines)
