"""Readings of scores, strings, directions, masks and plain numbers.

Tests: tests/quantization/meaning/test_value_readings.py
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tvmq.quantization.meaning.reading import Outputs, Reading, replace_infinities

HALF = 0.5  # of a mask of shares; of one of other scores it is 0


class NumberReading(Reading):
    """Numbers, read as they are: signal and error are powers."""

    kind: ClassVar[str] = "numbers"

    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """Sums of the squares of values and errors."""
        a, b = (replace_infinities(side[self.outputs[0]]) for side in (wanted, got))
        return np.array([[np.square(a).sum(), np.square(a - b).sum() if a.shape == b.shape else np.inf]])


class ClassReading(Reading):
    """Scores of classes in the last axis, or in axis 1 of maps: a row is one of the class with the highest score.

    Rows are the signal. A row of another class is an error, as much as float's two scores differ beside how far the
    best ones stand out on average: near ties count little.
    """

    kind: ClassVar[str] = "classes"
    judges: ClassVar[bool] = False

    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """Rows, and how many of them have another class."""
        a, b = (replace_infinities(side[self.outputs[0]]) for side in (wanted, got))
        a, b = a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1])
        rows, ours, theirs = np.arange(len(a)), a.argmax(1), b.argmax(1)
        spread = max(float((a.max(1) - a.mean(1)).mean()), 1e-30) if a.size else 1.0
        margin = np.clip((a[rows, ours] - a[rows, theirs]) / spread, 0, 1)
        return np.array([[float(len(a)), float(margin.sum())]])


class SequenceReading(Reading):
    """Scores [batch, steps, classes], read as strings: the best class of each step, repeated and empty ones dropped.

    Characters of float's strings are the signal, edits that lead to the other string the error.
    """

    kind: ClassVar[str] = "sequence"
    judges: ClassVar[bool] = False

    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """Characters, and edits."""
        pairs = zip(*(greedy_strings(side[self.outputs[0]]) for side in (wanted, got)), strict=True)
        sums = [(float(max(1, len(a))), float(edit_distance(a, b))) for a, b in pairs]
        return np.array([np.sum(sums, axis=0)])


class EmbeddingReading(Reading):
    """Vectors of which only the direction counts; the error is that of unit vectors: 2 (1 - cosine)."""

    kind: ClassVar[str] = "embedding"
    judges: ClassVar[bool] = False

    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """Vectors, and the squares of the differences of their unit vectors."""
        a, b = (replace_infinities(side[self.outputs[0]]) for side in (wanted, got))
        units = [x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-30) for x in (a, b)]
        return np.array([[a.size / a.shape[-1], np.square(units[0] - units[1]).sum()]])


class MaskReading(Reading):
    """Masks: places above a half (of shares) or above 0 (of other scores), compared by area.

    The error are the places on one side only, less one at each border: Dice without what blur does to edges.
    """

    kind: ClassVar[str] = "mask"
    judges: ClassVar[bool] = False

    def powers(self, wanted: Outputs, got: Outputs) -> np.ndarray:
        """Area of float's masks, and the area that differs."""
        a, b = (replace_infinities(side[self.outputs[0]]) for side in (wanted, got))
        level = HALF if a.min(initial=0.0) >= 0 else 0.0
        one, other = a > level, b > level
        return np.array([[max(1.0, float(one.sum())), float((one != other).sum()) / 2]])


def greedy_strings(scores: np.ndarray, empty: int = 0) -> list[list[int]]:
    """Strings of [batch, steps, classes]: the best class of each step without repetitions, without the empty class.

    >>> greedy_strings(np.eye(3)[[[1, 1, 0, 2, 2]]])
    [[1, 2]]
    """
    best = np.asarray(scores).argmax(-1)
    return [[int(v) for j, v in enumerate(row) if v != empty and (j == 0 or v != row[j - 1])] for row in best]


def edit_distance(a: list[int], b: list[int]) -> int:
    """Insertions, deletions and replacements that make b of a.

    >>> edit_distance([1, 2, 3], [1, 3, 4])
    2
    """
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        previous, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            previous, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, previous + (x != y))
    return row[-1]
