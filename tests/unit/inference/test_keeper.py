"""What is kept open is closed once: by its owner, or later, but never while garbage is collected."""

from __future__ import annotations

import subprocess
import sys

import pytest

from app.config import PROJECT_ROOT
from app.inference.keeper import Keeper


class Owner:
    """Somebody who may go."""


@pytest.fixture
def closed() -> list[str]:
    return []


def test_its_owner_closes_it_once(closed: list[str]) -> None:
    keeper, owner = Keeper(closed.append), Owner()
    close = keeper.keep(owner, "one")
    keeper.keep(owner, "other")
    assert closed == []
    close()
    close()
    del owner
    assert closed == ["one"]
    keeper.tidy()
    assert closed == ["one", "other"]


def test_what_an_owner_has_left_open_is_closed_when_next_somebody_tidies(closed: list[str]) -> None:
    keeper, owner, other = Keeper(closed.append), Owner(), Owner()
    keeper.keep(owner, "left")
    keeper.keep(other, "in use")
    del owner
    assert closed == []
    keeper.tidy()
    keeper.tidy()
    assert closed == ["left"]


def test_whatever_is_open_when_python_ends_is_closed_then() -> None:
    script = """
from app.inference.keeper import Keeper
class Owner: pass
keeper, owner, left = Keeper(print), Owner(), Owner()
keeper.keep(owner, "in use")
keeper.keep(left, "left")
del left
keeper.keep(owner, "closed")()
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=PROJECT_ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.split("\n") == ["closed", "in use", "left", ""]
