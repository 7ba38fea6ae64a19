"""The numbers that judge a student see what they are there to see."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from app.types import Point, RgbImage
from training.judge import Kept, flat_grain, judge, line_f1, score, summary, weave


def paper(side: int = 256) -> RgbImage:
    """A light ramp."""
    ramp = np.linspace(170, 230, side).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(ramp[None, :, None], (side, side, 3)))


def inked(offset: int = 0) -> RgbImage:
    """The ramp with two dark lines."""
    drawing = paper()
    for x in (80 + offset, 160 + offset):
        cv2.line(drawing, (x, 20), (x, 230), (30, 30, 30), 2)
    return drawing


def test_lines_in_their_places_score_one_and_a_pixel_beside_is_forgiven() -> None:
    assert line_f1(inked(), inked()) == 1
    assert line_f1(inked(1), inked()) == 1


def test_missing_and_misplaced_lines_cost() -> None:
    assert line_f1(paper(), inked()) == 0
    assert line_f1(inked(6), inked()) == 0
    half = inked()
    half[:, 140:] = paper()[:, 140:]
    assert line_f1(half, inked()) == pytest.approx(2 / 3, abs=0.02)


def test_pale_lines_are_none() -> None:
    pale = cv2.addWeighted(paper(), 0.9, inked(), 0.1, 0)
    assert line_f1(pale, inked()) == 0


@pytest.mark.parametrize("period", [2, 4, 8])
def test_a_weave_that_the_teacher_has_not_is_seen(period: int) -> None:
    woven = paper().astype(np.int16)
    woven[::period] += 2
    woven[:, ::period] += 2
    assert set(weave(paper(), paper()).values()) == {0}
    # Sharp threads have overtones; a ramp has so much of the long periods itself that these show it better.
    assert max(weave(woven.astype(np.uint8), paper()).values()) > 3


def test_what_weaves_by_chance_is_no_weave() -> None:
    # Grain of equal strength and other chance: in one picture some period is always above the teacher's.
    def grainy(seed: int) -> RgbImage:
        return np.random.default_rng(seed).normal(128, 8, (128, 128, 1)).clip(0, 255).astype(np.uint8).repeat(3, 2)

    rows = [score(grainy(2 * k), Kept(str(k), "all", paper()[:128, :128], grainy(2 * k + 1))) for k in range(48)]
    assert np.mean([max(row[f"weave_{period}"] for period in (2, 4, 8)) for row in rows]) > 1
    assert summary(rows)["weave"] < 1


def test_grain_counts_in_flat_areas_alone() -> None:
    grain = np.random.default_rng(0).normal(0, 4, (256, 256, 1))
    noisy = np.clip(paper() + grain, 0, 255).astype(np.uint8)
    assert flat_grain(noisy, paper()) > 2
    stripes = (np.indices((256, 256))[0][..., None] // 12 % 2 * 200).astype(np.uint8).repeat(3, 2)
    assert flat_grain(stripes, stripes) < 0.5


def test_the_teacher_s_own_drawing_is_perfect() -> None:
    scores = judge(lambda photo: inked(), [Kept("one", "scenes", paper(), inked())])["scenes"]
    assert (scores["ssim"], scores["line_f1"], scores["color"]) == (1, 1, 0)
    assert scores["lines"] == scores["edges"] == 1


def test_soft_lines_show_in_energy() -> None:
    soft = cv2.GaussianBlur(inked(), (0, 0), 2)
    scores = judge(lambda photo: soft, [Kept("one", "scenes", paper(), inked())])["scenes"]
    assert scores["lines"] < 0.8
    assert scores["edges"] < 0.9


def test_eyes_and_mouth_are_judged_apart() -> None:
    features = (Point(80, 100), Point(160, 100), Point(120, 200))
    drawn = inked()
    drawn[80:120, 50:200] = 128
    scores = score(drawn, Kept("one", "faces", paper(), inked(), features))
    assert scores["eyes"] < 0.9
    assert scores["mouth"] == 1


def test_groups_are_judged_apart() -> None:
    kept = [Kept("a", "faces", paper(), inked()), Kept("b", "scenes", paper(), paper())]
    scores = judge(lambda photo: photo, kept)
    assert scores["faces"]["ssim"] < 1
    assert scores["scenes"]["ssim"] == 1
