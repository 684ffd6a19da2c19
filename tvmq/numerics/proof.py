"""Proofs that integer sums stay inside int32, for the weights at hand.

A compiled kernel may add the products and the bias in any order and grouping: every partial sum is bounded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tvmq.errors import AccumulatorError
from tvmq.numerics.codes import INT32_MAX


def accumulator_bound(
    w: np.ndarray, x_low: int, x_high: int, bias: ArrayLike | None = None, *, filter_axis: int = 0
) -> np.ndarray:
    """Largest possible magnitude of a partial sum of x * w and bias, for each filter.

    w              integer weights, any shape
    filter_axis    the axis of its filters: 0 for OIHW, 1 for a matrix (K, N)
    x_low, x_high  lowest and highest code that x can hold, padding included
    bias           integers, shape (F,), added to each sum, -x_zero * sum(w) included where it is; None is 0
    returns        int64, shape (F,): max over all subsets of the products, with and without the bias

    >>> accumulator_bound(np.int8([[1, -2]]), 0, 255, bias=[-100])
    array([610])
    """
    w = np.moveaxis(np.asarray(w, np.int64), filter_axis, 0)
    flat = w.reshape(w.shape[0], -1)
    most = np.maximum(flat * x_low, flat * x_high)
    least = np.minimum(flat * x_low, flat * x_high)
    high = np.maximum(most, 0).sum(axis=1)
    low = np.minimum(least, 0).sum(axis=1)
    offset = np.zeros_like(high) if bias is None else np.asarray(bias).astype(np.int64)
    return np.asarray(np.maximum(high + np.maximum(offset, 0), -(low + np.minimum(offset, 0))))


def check_accumulator(
    layer: str,
    w: np.ndarray,
    x_low: int,
    x_high: int,
    bias: ArrayLike | None = None,
    *,
    filter_axis: int = 0,
    stage: str = "realize",
) -> np.ndarray:
    """`accumulator_bound`, refused with an AccumulatorError that names the layer where it leaves int32.

    >>> check_accumulator("head", np.full((1, 70000), 127), 0, 255)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tvmq.errors.AccumulatorError: realize, layer 'head': filter 0 of 1 adds 70000 products of codes 0..255 ...
    """
    bounds = accumulator_bound(w, x_low, x_high, bias, filter_axis=filter_axis)
    if (bounds > INT32_MAX).any():
        worst = int(np.argmax(bounds))
        raise AccumulatorError.of_layer(
            stage,
            layer,
            f"filter {worst} of {bounds.size} adds {w.size // bounds.size} products of codes {x_low}..{x_high} and can "
            f"reach {bounds[worst]}, int32 ends at {INT32_MAX}",
            f"give its weights fewer bits or keep it in float: Rule({layer!r}, None)",
        )
    return bounds


def check_product_accumulator(layer: str, depth: int, a_largest: int, b_largest: int, *, stage: str = "realize") -> int:
    """Bound a product of two tensors that are both unknown (attention): depth * a_largest * b_largest.

    a_largest, b_largest  largest magnitudes of the factors as they are multiplied
    returns               the bound
    raises                AccumulatorError, naming the layer, if that leaves int32

    >>> check_product_accumulator("attention", 64, 255, 255)
    4161600
    """
    bound = depth * a_largest * b_largest
    if bound > INT32_MAX:
        raise AccumulatorError.of_layer(
            stage,
            layer,
            f"{depth} products of up to {a_largest} * {b_largest} can reach {bound}, int32 ends at {INT32_MAX}",
            f"give its inputs fewer bits or keep it in float: Rule({layer!r}, None)",
        )
    return bound


def largest_depth(a_largest: int, b_largest: int) -> int:
    """How many products of factors up to these magnitudes int32 holds the sum of; for depths that are dynamic.

    >>> largest_depth(255, 255)
    33025
    """
    return INT32_MAX // (a_largest * b_largest)


def multiplier_fits(bounds: ArrayLike, multiplier: ArrayLike) -> bool:
    """True if float32(acc) * multiplier stays below 2^31 in magnitude for all |acc| <= bounds.

    A kernel may then convert to int32 first and clip afterwards: the result is that of requantize.
    bounds      integers, shape () or (F,)
    multiplier  float32, shape () or (F,)

    >>> multiplier_fits([2000], 0.5), multiplier_fits([2**30], 4.0)
    (True, False)
    """
    # Rounding of acc and of the product to float32 can only reach 2^31 from at most this far below it.
    limit = 2.0**31 * (1 - 2.0**-22)
    return bool((np.asarray(bounds, np.float64) * np.asarray(multiplier, np.float64) < limit).all())
