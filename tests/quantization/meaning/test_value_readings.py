"""Classes, strings, directions, masks and numbers: noise below what matters, and damage."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.quantization.meaning.reading import Reading, decibels_of, sum_powers
from tvmq.quantization.meaning.value_readings import (
    ClassReading,
    EmbeddingReading,
    MaskReading,
    NumberReading,
    SequenceReading,
    edit_distance,
    greedy_strings,
)

RNG = np.random.default_rng(0)
SCORES = np.eye(10)[RNG.integers(0, 10, 200)] * 4 + RNG.normal(0, 0.5, (200, 10))
STEPS = np.eye(12)[np.repeat(RNG.integers(0, 12, (6, 20)), 2, axis=1)] * 4 + RNG.normal(0, 0.3, (6, 40, 12))
VECTORS = RNG.normal(0, 1, (50, 64))
BLOBS = np.square(np.sin(np.arange(64)[:, None] / 9) * np.cos(np.arange(64) / 7))[None, None]
NOISE = RNG.normal(0, 1, (200, 10))


def decibels(reading: Reading, wanted: np.ndarray, got: np.ndarray) -> float:
    """dB of the only part."""
    return decibels_of(sum_powers(reading, [([wanted], [got])]))[0]


@pytest.mark.parametrize(
    ("reading", "wanted", "small", "large"),
    [
        (ClassReading((0,)), SCORES, SCORES * 0.5 + 1 + 0.2 * NOISE, np.roll(SCORES, 1, 1)),
        (SequenceReading((0,)), STEPS, STEPS * 2 - 1, np.where(np.arange(40)[:, None] % 8 == 0, STEPS[..., ::-1], STEPS)),
        (EmbeddingReading((0,)), VECTORS, VECTORS * 3 + 0.1 * RNG.normal(0, 1, VECTORS.shape), VECTORS + 0.3 * VECTORS[::-1]),
        (MaskReading((0,)), BLOBS, BLOBS + 0.004, np.roll(BLOBS, 2, -1)),
        (NumberReading((0,)), SCORES, SCORES + 0.1 * NOISE, SCORES + NOISE),
    ],
    ids=["classes", "sequence", "embedding", "mask", "numbers"],
)  # fmt: skip
def test_noise_below_what_matters_and_damage(reading, wanted, small, large):
    assert decibels(reading, wanted, wanted) == np.inf
    assert decibels(reading, wanted, wanted * (1 + 1e-6)) > 80
    assert decibels(reading, wanted, small) > 20 > decibels(reading, wanted, large)


def test_a_near_tie_of_classes_counts_little():
    ties = np.tile([1.0, 0.999, 0.0], (10, 1))
    assert decibels(ClassReading((0,)), ties, ties[:, [1, 0, 2]]) > 20


def test_another_shape_is_no_agreement():
    assert decibels(NumberReading((0,)), SCORES, SCORES[:, :5]) == -np.inf


def test_masks_of_scores_begin_at_zero():
    assert decibels(MaskReading((0,)), BLOBS - 0.5, BLOBS - 0.5) == np.inf
    assert MaskReading((0,)).powers([BLOBS - 0.5], [BLOBS - 0.4])[0, 0] == (BLOBS > 0.5).sum()


def test_strings_and_edits():
    assert greedy_strings(np.eye(3)[[[1, 1, 0, 1, 2], [0, 0, 0, 0, 0]]]) == [[1, 1, 2], []]
    assert edit_distance([], [1, 2]) == 2 and edit_distance([1, 2, 3], [1, 2, 3]) == 0


def test_only_what_the_user_names_binds_the_guard():
    assert not ClassReading((0,)).is_bound and ClassReading((0,), by_user=True).is_bound and NumberReading((0,)).is_bound
