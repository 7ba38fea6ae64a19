"""The drawing chain of the style `ink`: what it promises of any picture."""

import cv2
import numpy as np
import pytest

from training.ink import draw
from training.ink.chain import INFLUENCE, RgbImage


def _scene(height: int, width: int, seed: int = 1) -> RgbImage:
    """Shapes of strong contrast on a shaded ground, with a little noise: edges of every kind."""
    rng = np.random.default_rng(seed)
    ground = np.linspace(60, 200, width)[None, :, None] + np.array([10, 0, -20])
    picture = np.repeat(ground, height, axis=0) + rng.normal(0, 4, (height, width, 3))
    picture = np.clip(picture, 0, 255).astype(np.uint8)
    for _ in range(12):
        centre = (int(rng.integers(width)), int(rng.integers(height)))
        cv2.circle(picture, centre, int(rng.integers(4, 30)), rng.integers(0, 256, 3).tolist(), -1, cv2.LINE_AA)
    return picture


def _flat(colour: tuple[int, int, int], side: int = 96) -> RgbImage:
    return np.full((side, side, 3), colour, np.uint8)


def _lab(picture: RgbImage) -> np.ndarray:
    return cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)


def _lightness(picture: RgbImage) -> np.ndarray:
    return _lab(picture)[..., 0]


@pytest.mark.parametrize(("height", "width"), [(8, 8), (8, 61), (33, 9), (120, 77), (64, 128)])
def test_any_size_is_kept(height: int, width: int) -> None:
    answer = draw(_scene(height, width))
    assert answer.shape == (height, width, 3)
    assert answer.dtype == np.uint8


@pytest.mark.parametrize("shape", [(7, 40, 3), (40, 40), (40, 40, 4)])
def test_what_is_no_picture_is_refused_by_name(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="uint8"):
        draw(np.zeros(shape, np.uint8))


def test_the_same_picture_gives_the_same_drawing_and_stays_as_it_is() -> None:
    picture = _scene(96, 96)
    before = picture.copy()
    first = draw(picture)
    assert np.array_equal(first, draw(picture))
    assert np.array_equal(picture, before)


@pytest.mark.parametrize("turned", [False, True])
def test_a_change_far_away_changes_nothing(turned: bool) -> None:
    picture = _scene(96, 320, seed=2)
    changed = picture.copy()
    changed[:, 160:] = np.random.default_rng(3).integers(0, 256, changed[:, 160:].shape)
    if turned:
        picture, changed = picture.transpose(1, 0, 2).copy(), changed.transpose(1, 0, 2).copy()
    differs = np.any(draw(picture) != draw(changed), axis=2).any(axis=1 if turned else 0)
    nearest_edge = int(np.nonzero(differs)[0][0])
    assert nearest_edge < 160, "the change itself must show across its edge"
    assert nearest_edge >= 160 - INFLUENCE
    assert nearest_edge >= 160 - 60, "what a small network can see is about 100 px; this leaves room"


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (128, 128, 128), (224, 172, 140), (74, 46, 34)])
def test_a_flat_area_stays_flat_and_gets_no_ink(colour: tuple[int, int, int]) -> None:
    answer = draw(_flat(colour))
    assert int(np.ptp(answer.reshape(-1, 3), axis=0).max()) == 0
    assert abs(float(_lightness(answer).mean() - _lightness(_flat(colour)).mean())) < 9


@pytest.mark.parametrize("tone", [(245, 208, 182), (224, 172, 140), (176, 122, 88), (120, 78, 54), (74, 46, 34)])
def test_skin_keeps_its_tone(tone: tuple[int, int, int]) -> None:
    before, after = _lab(_flat(tone))[0, 0], _lab(draw(_flat(tone)))[0, 0]
    assert -1 <= after[0] - before[0] <= 7.5, "neither darker nor whitened"
    hues = np.degrees(np.arctan2([before[2], after[2]], [before[1], after[1]]))
    assert abs(hues[1] - hues[0]) < 12


def test_a_contour_becomes_a_dark_line() -> None:
    picture = _flat((200, 190, 180), 128)
    picture[:, 64:] = (150, 140, 130)
    light = _lightness(draw(picture))
    row = light[64]
    assert row[60:70].min() < row[90] - 20, "darker than the darker side"
    assert 1 <= int((row < row[90] - 15).sum()) <= 4, "1 to 4 px wide"
    assert abs(float(row[30] - light[:, :40].mean())) < 1


@pytest.mark.parametrize(("level", "noise"), [(130, 12), (220, 12), (30, 5)])
def test_noise_gets_no_ink(level: int, noise: int) -> None:
    rng = np.random.default_rng(5)
    noisy = np.clip(level + rng.normal(0, noise, (128, 128, 3)), 0, 255).astype(np.uint8)
    light = _lightness(draw(noisy))
    assert float(light.std()) < 0.5 * float(_lightness(noisy).std())
    assert float(light.min()) > float(np.median(light)) - 6


def test_a_contour_in_low_light_is_still_drawn() -> None:
    picture = _flat((56, 53, 50), 128)
    picture[:, 64:] = (26, 24, 22)
    light = _lightness(draw(picture))[64]
    assert light[58:70].min() < light[90] - 1.5


def test_a_sky_gets_no_bands() -> None:
    ramp = np.linspace(110, 230, 256)[:, None]
    sky = np.repeat(np.stack([ramp * 0.7, ramp * 0.85, ramp], axis=2), 64, axis=1).astype(np.uint8)
    steps = np.diff(_lightness(draw(sky))[16:-16, 32])
    given = np.diff(_lightness(sky)[16:-16, 32])
    assert float(steps.min()) > -0.4
    assert float(steps.max()) < 2 * float(given.max()), "no jump that was not there"
