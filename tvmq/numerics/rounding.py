"""Rounding of weights with feedback: each weight is rounded so that it makes up for the errors of those before it:
GPTQ (OPTQ) in its LDL form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# What is added to the diagonal, as a share of its mean: inputs that the data never moved must not move weights either.
DAMPING = 0.01
# Rows of a matrix that are worked on together; they fit a second-level cache.
ROWS = 128
# (wanted values of a tap, its index) -> its codes
Choose = Callable[[np.ndarray, int], np.ndarray]
# As `chosen_codes`, which defines it.
Chosen = Callable[[np.ndarray, np.ndarray, np.ndarray, int, int], np.ndarray]


def chosen_codes(weight: np.ndarray, steps: np.ndarray, matrix: np.ndarray, qmin: int, qmax: int) -> np.ndarray:
    """Codes (groups, taps, filters) of a weight and its steps of that form, from the last tap to the first.

    matrix   damped moments (groups, taps, taps), taps in rising order of their diagonal; overwritten
    """
    lower, diagonal = _ldl_factors(matrix)
    nearest = nearest_codes(weight / steps, qmin, qmax)

    def choose(wanted: np.ndarray, tap: int) -> np.ndarray:
        return nearest_codes(wanted / steps[:, tap], qmin, qmax)

    codes, error = _round_by_feedback(weight, steps, lower, diagonal, choose)
    _, nearest_error = _round_by_feedback(weight, steps, lower, diagonal, lambda _wanted, tap: nearest[:, tap])
    return np.where((error < nearest_error)[:, None, :], codes, nearest)


def nearest_codes(wanted: np.ndarray, qmin: int, qmax: int) -> np.ndarray:
    """rint, half to even, and clipped.

    >>> nearest_codes(np.array([0.5, 1.5, 200.0]), -127, 127)
    array([  0.,   2., 127.])
    """
    return np.clip(np.rint(wanted), qmin, qmax)


def round_weights(
    weight: np.ndarray,
    moments: np.ndarray,
    *,
    qmin: int,
    qmax: int,
    steps: np.ndarray | None = None,
    chosen: Chosen = chosen_codes,
) -> np.ndarray:
    """Codes q of least error (weight - q) @ moments @ (weight - q), nearly; never worse than the nearest codes.

    weight      float64 (groups, filters, taps), in steps: weight / scale
    steps       where taps of a filter have steps of their own: they, as the weight, which is in none then. The error is
                that of q * steps
    moments     float64 (groups, taps, taps): mean products of the inputs of two taps; symmetric, semidefinite
    qmin, qmax  lowest and highest code
    chosen      what computes the codes: compiled code of equal bits may be handed in
    gives       float64 (groups, filters, taps), whole numbers
    raises      ValueError for shapes that do not fit

    Order of operations: DAMPING times the mean of the diagonal is added to it; taps are sorted by the diagonal and
    moments factored as L D L'. From the tap of the largest moment down, each code is rint(weight + what the errors of
    the codes before it amount to in this tap), clipped; with steps, of that divided by its step. A filter whose error
    (of the damped moments) is not below that of its nearest codes gets these. Everything is single additions, products
    and quotients of float64 in this order, no sums of a library: the same codes on every CPU and for every number of
    threads.

    >>> w = np.array([[[0.4, 0.4]]])                       # two inputs that are always equal: the sum counts
    >>> round_weights(w, np.array([[[4.0, 4.0], [4.0, 4.0]]]), qmin=-127, qmax=127)
    array([[[1., 0.]]])
    """
    groups, _, taps = weight.shape
    if moments.shape != (groups, taps, taps):
        raise ValueError(f"moments {moments.shape} do not fit a weight {weight.shape}")
    damped = _add_damping(moments)
    order = np.argsort(np.diagonal(damped, axis1=1, axis2=2), axis=1, kind="stable")
    damped = np.take_along_axis(np.take_along_axis(damped, order[:, :, None], 1), order[:, None, :], 2)
    sorted_weight = np.take_along_axis(weight.transpose(0, 2, 1), order[:, :, None], 1)
    sorted_steps = np.ones_like(sorted_weight)
    if steps is not None:
        sorted_steps = np.take_along_axis(steps.transpose(0, 2, 1), order[:, :, None], 1)
    codes = chosen(sorted_weight, sorted_steps, damped, qmin, qmax)
    result = np.empty_like(codes)
    np.put_along_axis(result, order[:, :, None], codes, 1)
    return result.transpose(0, 2, 1)


def _add_damping(moments: np.ndarray) -> np.ndarray:
    """The moments with more on the diagonal; 1 where a group has no moments at all."""
    taps = moments.shape[-1]
    result = moments.copy()
    total = np.zeros(len(moments))
    for tap in range(taps):
        total += moments[:, tap, tap]
    extra = np.where(total > 0, total / max(taps, 1) * DAMPING, 1.0)
    for tap in range(taps):
        result[:, tap, tap] += extra
    return result


def _ldl_factors(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(L, D) of each symmetric positive matrix = L D L', L with ones on its diagonal; works in place."""
    taps = matrix.shape[-1]
    diagonal = np.empty(matrix.shape[:2])
    for i in range(taps):
        diagonal[:, i] = matrix[:, i, i]
        row = matrix[:, i, i + 1 :].copy()
        column = row / diagonal[:, i, None]
        for first in range(i + 1, taps, ROWS):  # rows from their diagonal on; what is left of it is not read again
            done = first - i - 1
            matrix[:, first : first + ROWS, first:] -= column[:, done : done + ROWS, None] * row[:, None, done:]
        matrix[:, i + 1 :, i] = column
    return matrix, diagonal


def _round_by_feedback(
    weight: np.ndarray, steps: np.ndarray, lower: np.ndarray, diagonal: np.ndarray, choose: Choose
) -> tuple[np.ndarray, np.ndarray]:
    """(codes, error of each filter): choose(wanted value, tap) from the last tap to the first."""
    wanted, codes = weight.copy(), np.empty_like(weight)
    error = np.zeros((weight.shape[0], weight.shape[2]))
    for tap in range(weight.shape[1] - 1, -1, -1):
        codes[:, tap] = choose(wanted[:, tap], tap)
        value = codes[:, tap] * steps[:, tap]
        left = wanted[:, tap] - value
        error += diagonal[:, tap, None] * left * left
        missing = weight[:, tap] - value
        wanted[:, :tap] += lower[:, tap, :tap, None] * missing[:, None, :]
    return codes, error
