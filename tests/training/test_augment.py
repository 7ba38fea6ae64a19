"""Photos as they arrive after bad light and messengers."""

from __future__ import annotations

import numpy as np

from training.augment import CHANGED_SHARE, spoiled

PICTURE = np.random.default_rng(0).integers(60, 200, (64, 48, 3), np.uint8)


def test_the_same_randomness_gives_the_same_photo() -> None:
    first, second = (spoiled(PICTURE, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first, second)


def test_some_are_changed_and_most_are_not() -> None:
    changed = [not np.array_equal(spoiled(PICTURE, np.random.default_rng(seed)), PICTURE) for seed in range(200)]
    assert abs(np.mean(changed) - CHANGED_SHARE) < 0.1


def test_a_changed_photo_keeps_its_shape_and_the_original_stays() -> None:
    before = PICTURE.copy()
    for seed in range(50):
        result = spoiled(PICTURE, np.random.default_rng(seed))
        assert (result.shape, result.dtype) == (PICTURE.shape, np.uint8)
    assert np.array_equal(PICTURE, before)


def test_night_and_glare_are_both_among_them() -> None:
    tones = [spoiled(PICTURE, np.random.default_rng(seed)).mean() for seed in range(300)]
    assert min(tones) < 0.6 * PICTURE.mean()
    assert max(tones) > 1.2 * PICTURE.mean()
