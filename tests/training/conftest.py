"""What tests of the training room share. Those that need PyTorch skip where it is not installed."""

from __future__ import annotations

import contextlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from app.config import PROJECT_ROOT


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A folder of eight small photos, cut from the samples, all different."""
    folder = tmp_path / "photos" / "mixed"
    folder.mkdir(parents=True)
    for index, sample in enumerate(sorted((PROJECT_ROOT / "static" / "samples").glob("*.jpg")) * 4):
        picture = np.asarray(cv2.imread(str(sample)), np.uint8)
        corner = 16 * index
        cv2.imwrite(str(folder / f"{index}.png"), picture[corner : corner + 200, corner : corner + 240])
        if index == 7:
            break
    return folder.parent


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Threads of PyTorch wait for each other by spinning, which on a busy machine takes minutes for what takes one."""
    with contextlib.suppress(ModuleNotFoundError):
        import torch

        torch.set_num_threads(1)
