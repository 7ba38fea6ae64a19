"""A card for made networks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.config import PROJECT_ROOT
from app.inference.card import ModelCard
from app.inference.registry import ModelRegistry

MODELS = PROJECT_ROOT / "models"


def card(**changes: Any) -> ModelCard:
    """The card of the built-in ``hayao`` with ``changes``."""
    return replace(ModelRegistry.read(MODELS).card("hayao"), **changes)
