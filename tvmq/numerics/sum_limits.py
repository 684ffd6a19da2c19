"""Weights whose sums of products an accumulator holds, whatever the activations are: how large they may be together,
and the nearest ones that are.

A sum of w * x, with codes x_low <= x <= x_high, is largest where each x is the end that its weight likes best. For
codes without a sign it lies in -N * x_high .. P * x_high, where P and N are the sums of the positive and of the
absolute negative weights; for codes of both signs within (P + N) * max(-x_low, x_high) on either side, the L1 norm of
the weights (A2Q: Colbert et al. 2023, arXiv:2308.13504, learns that norm; here the nearest weights inside of it are
taken).

Nearest   in least squares, over all integers within the limit: taking 1 from a weight q that stands for the real number
          v costs 2 (v - q) + 1, always more the second time, so the cheapest are taken one by one until the rest fits.
          All weights lose h first, as often as that leaves them above the limit or on it, then those once more that
          rounding raised most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def most_of_weights(
    bits: int, x_low: int, x_high: int, *, zero_point: int = 0, bias: ArrayLike = 0
) -> tuple[np.ndarray, bool]:
    """How large the weights of one accumulator may be together, so that no partial sum leaves it.

    bits           of the accumulator, two's complement; -2^(bits - 1) is not used
    x_low, x_high  lowest and highest factor of a weight, padding included
    zero_point     if -zero_point * sum(w) is part of the constant that is added
    bias           the other part of it, integers of any shape, one for each accumulator
    returns        int64, shape of bias, negative where the bias alone is too large; and whether it bounds the sum of
                   all magnitudes, or that of the positive ones and that of the negative ones, each by itself

    >>> most_of_weights(16, 0, 255), most_of_weights(20, -128, 127)
    ((array(128), False), (array(4095), True))
    """
    together = x_low < 0
    # A sum is convex in P and N, so it is largest where one of them is all and the other nothing; of codes without a
    # sign where both are all, and the zero points cancel.
    ends = (x_high, -x_low, x_high - zero_point, zero_point - x_low) if together else (x_high, zero_point)
    left = 2 ** (bits - 1) - 1 - np.abs(np.asarray(bias, np.int64))
    return np.asarray(left // max(*ends, 1)), together


def sum_of_weights(weight: np.ndarray, *, together: bool) -> np.ndarray:
    """Sums of weights, which `most_of_weights` bounds: of [accumulators, weights], int64 [accumulators].

    >>> sum_of_weights(np.int8([[3, -2, 1]]), together=False), sum_of_weights(np.int8([[3, -2, 1]]), together=True)
    (array([4]), array([6]))
    """
    weights64 = np.asarray(weight, np.int64)
    positive, negative = np.maximum(weights64, 0).sum(axis=1), np.maximum(-weights64, 0).sum(axis=1)
    return positive + negative if together else np.maximum(positive, negative)


def nearest_weights(values: np.ndarray, most: ArrayLike, *, together: bool) -> np.ndarray:
    """The integers nearest to the values whose sums stay within the limit.

    values    float [accumulators, weights]: weights in steps of their scale, within their codes
    most      int [accumulators], or one for all: as `most_of_weights` gives it; below 0 counts as 0
    together  likewise
    returns   int64, shape of the values. rint(values) where that is within the limit; of equally near ones that which
              leaves the first weights larger

    >>> nearest_weights(np.float32([[90.4, 60.6, -7.0]]), 128, together=False)
    array([[79, 49, -7]])
    """
    codes = np.rint(values).astype(np.int64)
    limit = np.maximum(np.broadcast_to(np.asarray(most, np.int64), codes.shape[:1]), 0)
    if together:
        return _shrink_codes(values, codes, np.abs(codes), limit)
    for sign in (1, -1):
        codes = _shrink_codes(values, codes, np.maximum(sign * codes, 0), limit)
    return codes


def _shrink_codes(values: np.ndarray, codes: np.ndarray, sizes: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """The codes, those of these sizes nearer to 0 until the sizes add up to the limit."""
    over = np.flatnonzero(sizes.sum(axis=1) > limit)
    if not len(over):
        return codes
    size, sign = sizes[over], np.sign(codes[over])
    excess = size.sum(axis=1) - limit[over]
    left = np.maximum(size - _levels(size, excess)[:, None], 0)
    excess = left.sum(axis=1) - limit[over]
    # rounding raised these most; a stable sort from the last one leaves the first ones larger
    raised = np.where(left > 0, size - np.abs(values[over]).astype(np.float64), -np.inf)[:, ::-1]
    order = np.argsort(-raised, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")[:, ::-1]
    left -= rank < excess[:, None]
    result = codes.copy()
    result[over] = np.where(size > 0, sign * left, codes[over])
    return result


def _levels(size: np.ndarray, excess: np.ndarray) -> np.ndarray:
    """The largest h of each row with sum(minimum(h, size)) <= excess."""
    count = size.shape[1]
    rising = np.sort(size, axis=1)
    before = np.cumsum(rising, axis=1) - rising
    # what is taken if all lose as much as the i-th smallest has
    total_loss = before + (count - np.arange(count)) * rising
    smaller = (total_loss <= excess[:, None]).sum(axis=1)
    at = np.maximum(smaller - 1, 0)[:, None]
    base = np.where(smaller > 0, np.take_along_axis(rising, at, axis=1)[:, 0], 0)
    spent = np.where(smaller > 0, np.take_along_axis(total_loss, at, axis=1)[:, 0], 0)
    levels: np.ndarray = base + (excess - spent) // np.maximum(count - smaller, 1)
    return levels
