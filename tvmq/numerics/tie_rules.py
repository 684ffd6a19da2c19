"""How a number between two integers becomes one of them.

upward      to the nearest, half towards +infinity
downward    to the nearest, half towards -infinity
away        to the nearest, half away from zero
even        to the nearest, half to the even one
floor       towards -infinity
truncate    towards zero
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

TIE_RULES = ("upward", "away", "even", "downward", "floor", "truncate")


def rounded_shift(values: np.ndarray, right: ArrayLike, tie: str) -> np.ndarray:
    """values / 2^right, rounded: int64.

    values  int64, less than 2^62 in magnitude
    right   0..63, broadcasts
    tie     one of TIE_RULES

    >>> {tie: rounded_shift(np.int64([-6, -5, 5, 6]), 2, tie).tolist() for tie in ("upward", "away", "truncate")}
    {'upward': [-1, -1, 1, 2], 'away': [-2, -1, 1, 2], 'truncate': [-1, -1, 1, 1]}
    """
    right = np.asarray(right, np.int64)
    half = np.where(right > 0, np.left_shift(np.int64(1), np.maximum(right, 1) - 1), 0)
    is_shifted = (right > 0).astype(np.int64)
    if tie == "floor":
        return np.asarray(values >> right)
    if tie == "truncate":
        return np.asarray(np.sign(values) * (np.abs(values) >> right))
    less = {
        "upward": lambda: 0,
        "downward": lambda: is_shifted,
        "away": lambda: (values < 0) * is_shifted,
        "even": lambda: (1 - ((values >> right) & 1)) * is_shifted,
    }[tie]()
    return np.asarray((values + half - less) >> right)


def rounded_float(values: np.ndarray, tie: str) -> np.ndarray:
    """Numbers rounded to whole ones, as float64, exactly: what is beyond a whole number is told without an error.

    values  float32, or float64 below 2^52

    >>> rounded_float(np.float32([-2.5, -0.5, 0.5, 2.5]), "downward").tolist()
    [-3.0, -1.0, 0.0, 2.0]
    """
    values64 = np.asarray(values, np.float64)
    whole = np.floor(values64)
    with np.errstate(invalid="ignore"):  # infinity stays
        part = values64 - whole
    return np.asarray(
        {
            "upward": lambda: whole + (part >= 0.5),
            "downward": lambda: whole + (part > 0.5),
            "away": lambda: whole + np.where(values64 >= 0, part >= 0.5, part > 0.5),
            "even": lambda: np.rint(values64),
            "floor": lambda: whole,
            "truncate": lambda: np.trunc(values64),
        }[tie]()
    )
