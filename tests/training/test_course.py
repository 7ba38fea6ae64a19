"""A course goes on where it stopped, as if it had not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch (requirements-tools.txt) is not installed")

from tools.command import ToolError
from training.course import LOG, LOG_EVERY, STATE, Course
from training.recipe import LAST_RATE, Recipe
from training.sampler import Sampler
from training.student import Machine

RECIPE = Recipe(size="s", steps=2 * LOG_EVERY, hours=None, made_from="noise", pairs=2, batch=1, crop=32)


def pair(index: int) -> np.ndarray:
    """A photo and its negative."""
    photo = np.random.default_rng(index).integers(0, 256, (64, 64, 3), np.uint8)
    return np.stack([photo, 255 - photo])


def course(folder: Path, recipe: Recipe = RECIPE) -> Course:
    sampler = Sampler(recipe.pairs, pair, recipe.batch, recipe.crop, recipe.seed)
    return Course(recipe, folder, sampler, lambda network: {"held_psnr": 1.0}, LOG_EVERY, Machine("cpu", narrow=False))


@pytest.mark.parametrize("narrow", [False, True])
def test_stopped_and_resumed_is_the_same_as_never_stopped(tmp_path: Path, narrow: bool) -> None:
    machine = Machine("cpu", narrow)
    whole = replace_machine(course(tmp_path / "whole"), machine)
    whole.run(lambda row: None)
    replace_machine(course(tmp_path / "parts"), machine).run(lambda row: None, until=30)
    second = replace_machine(course(tmp_path / "parts"), machine)
    assert second.resume()
    assert second.steps == 30
    second.run(lambda row: None)
    for name, value in whole.student.plain().state_dict().items():
        assert torch.equal(value, second.student.plain().state_dict()[name]), name


def replace_machine(made: Course, machine: Machine) -> Course:
    return Course(made.recipe, made.folder, made.sampler, made.validate, made.validate_every, machine)


def test_it_learns(tmp_path: Path) -> None:
    losses: list[float] = []
    course(tmp_path, replace(RECIPE, steps=6 * LOG_EVERY)).run(lambda row: losses.append(row["total"]))
    assert len(losses) == 6
    assert losses[-1] < 0.8 * losses[0]


def test_the_log_has_every_row_and_the_held_out_numbers(tmp_path: Path) -> None:
    course(tmp_path).run(lambda row: None)
    head, *rows = (tmp_path / LOG).read_text().splitlines()
    assert "held_psnr" in head.split(",")
    assert [row.split(",")[0] for row in rows] == [str(LOG_EVERY), str(2 * LOG_EVERY)]


def test_what_interrupts_it_costs_nothing_that_was_learnt(tmp_path: Path) -> None:
    def interrupt(row: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        course(tmp_path).run(interrupt)
    again = course(tmp_path)
    assert again.resume()
    assert again.steps == LOG_EVERY


def test_a_state_of_another_recipe_is_not_gone_on_with(tmp_path: Path) -> None:
    course(tmp_path).run(lambda row: None, until=1)
    with pytest.raises(ToolError, match=r"another course \(rate differ\)"):
        course(tmp_path, replace(RECIPE, rate=1e-4)).resume()
    assert course(tmp_path, replace(RECIPE, steps=1000, pairs=4)).resume(), "it may be made longer"


def test_a_broken_state_is_told(tmp_path: Path) -> None:
    (tmp_path / STATE).write_bytes(b"half")
    with pytest.raises(ToolError, match="remove it to begin anew"):
        course(tmp_path).resume()


def test_the_rate_rises_then_falls_to_its_last() -> None:
    rates = [RECIPE.rate_at(step, step / 1000) for step in (0, 50, 99, 500, 1000)]
    assert rates[0] < rates[1] < rates[2]
    assert rates[2] > rates[3] > rates[4] == pytest.approx(RECIPE.rate * LAST_RATE)


def test_hours_are_counted_in_what_was_spent() -> None:
    recipe = replace(RECIPE, steps=None, hours=0.5)
    assert recipe.progress(10**6, 900) == pytest.approx(0.5)
    assert recipe.progress(0, 4000) == 1
