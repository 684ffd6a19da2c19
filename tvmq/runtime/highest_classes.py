"""The classes with the highest scores of each sample, by name.

Tests: tests/tools/cli/test_picture_inputs.py
"""

from __future__ import annotations

import numpy as np

TOP = 5


def highest_classes(scores: np.ndarray, labels: tuple[str, ...]) -> list[list[tuple[str, float]]]:
    """(name, score) of the highest scores of each sample, the highest first; [] for what gives no scores of classes.

    scores  float (samples, classes)
    labels  names of the classes; numbers without them

    >>> highest_classes(np.float32([[0.5, 2.0, 1.0]]), ("cat", "dog", "bird"))
    [[('dog', 2.0), ('bird', 1.0), ('cat', 0.5)]]
    """
    if scores.dtype.kind != "f" or scores.ndim < 2 or scores.size // max(1, len(scores)) != max(scores.shape[1:]):
        return []
    rows = scores.reshape(len(scores), -1)
    if rows.shape[1] < 2 or (labels and len(labels) != rows.shape[1]):
        return []
    order = np.argsort(-rows, axis=1, kind="stable")[:, :TOP]
    return [
        [(labels[i] if labels else f"class {i}", float(row[i])) for i in places]
        for row, places in zip(rows, order, strict=True)
    ]
