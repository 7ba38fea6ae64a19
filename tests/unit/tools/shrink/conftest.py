"""What the workshop's tests share."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT
from app.imaging.sizing import SizeRequirements
from app.inference.card import ModelCard
from app.inference.registry import ModelRegistry


@pytest.fixture(scope="session")
def card() -> ModelCard:
    """The card of the made networks: NCHW, [-1, 1], any sides."""
    hayao = ModelRegistry.load(PROJECT_ROOT / "models", with_added=False).card("hayao")
    return dataclasses.replace(hayao, sizes=SizeRequirements())


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty folder for files."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder
