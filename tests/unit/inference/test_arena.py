"""What runs take of memory together, and leave for the next ones."""

from __future__ import annotations

import pytest

from app.inference.arena import Arena


def test_what_one_run_has_left_the_next_one_takes() -> None:
    arena = Arena()
    assert arena.held == 0
    for size in (800, 300, 500):
        with arena.taking(size):
            pass
    assert arena.held == 800


def test_runs_that_go_on_together_need_room_for_each() -> None:
    arena = Arena()
    with arena.taking(500), arena.taking(400):
        pass
    assert arena.held == 900


def test_what_is_given_back_is_held_no_more_but_by_those_under_way() -> None:
    arena = Arena()
    with arena.taking(800):
        pass
    with arena.taking(100):
        arena.given_back()
        assert arena.held == 100
    arena.given_back()
    assert arena.held == 0


def test_a_run_that_fails_has_taken_its_memory_all_the_same_and_takes_no_more() -> None:
    arena = Arena()
    for _ in range(2):
        with pytest.raises(MemoryError), arena.taking(100):
            raise MemoryError
    assert arena.held == 100
