"""Labels that number the classes in another order than the model does: then accuracy is low, and not by the model.

Tests: tests/tools/cli/test_doubts.py, tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

import numpy as np

LEAST = 3  # samples that a class must have to be counted
PURITY = 0.8  # share of the samples of a class of the model that carry one other label
SHOWN = 4


def find_other_numbers(scores: np.ndarray, labels: np.ndarray) -> dict[int, int]:
    """{class by the model: label} where they differ, class after class; empty unless two classes do.

    A class counts where the model finds it in at least LEAST samples, of which PURITY have the same other label, and no
    second class has that label. One such class may be a confusion of the model, two of them hardly.

    scores  (samples, classes)
    labels  (samples,), whole numbers

    >>> find_other_numbers(np.eye(3)[[0, 0, 0, 1, 1, 1, 2]], np.array([1, 1, 1, 0, 0, 0, 2]))
    {0: 1, 1: 0}
    """
    numbers: dict[int, int] = {}
    classes = scores.reshape(len(scores), -1).argmax(axis=1)
    for one in np.unique(classes):
        values, counts = np.unique(labels[classes == one], return_counts=True)
        label, most = int(values[counts.argmax()]), int(counts.max())
        if label != one and most >= LEAST and most >= PURITY * counts.sum():
            numbers[int(one)] = label
    is_unique = len(set(numbers.values())) == len(numbers)
    return numbers if is_unique and len(numbers) > 1 else {}


def describe_numbers(numbers: dict[int, int]) -> str:
    """A sentence about them, without its end.

    >>> describe_numbers({0: 1, 1: 0})
    'labels number 2 classes otherwise than the model: what it finds as 0 is labelled 1, 1 is labelled 0'
    """
    pairs = [f"{one} is labelled {label}" for one, label in list(numbers.items())[:SHOWN]]
    rest = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return f"labels number {len(numbers)} classes otherwise than the model: what it finds as {', '.join(pairs)}{rest}"
