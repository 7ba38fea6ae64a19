"""A web server of this machine, and a folder of models to work on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT
from app.inference.registry import ModelRegistry
from tests.unit.library.server import Web, serving


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    # A proxy of the machine's owner would not find a server that listens to this machine alone.
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        yield server


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    """The built-in models, FP32 alone, as a folder that may be written to."""
    folder = tmp_path / "models"
    folder.mkdir()
    built_in = ModelRegistry.load(PROJECT_ROOT / "models", with_added=False)
    for path in (PROJECT_ROOT / "models" / "models.toml", *(style.path for style in built_in.styles.values())):
        shutil.copy(path, folder / path.name)
    (folder / "face").symlink_to(PROJECT_ROOT / "models" / "face")
    return folder
