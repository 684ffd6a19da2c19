"""numerics.rounding.round_weights as compiled code of this CPU: the same bits, a few per cent of the time.

Tests: tests/passes/partition/test_residual_streams.py
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tvmq.codegen.compile.loop_functions import compile_functions
from tvmq.codegen.kernels.calibrate import weight_rounding as kernels
from tvmq.numerics import rounding
from tvmq.runtime.inputs import aligned_zeros

# Steps (groups * taps^2 * (taps + filters)) that NumPy does in about 30 ms; below, compiling costs more.
FEW_STEPS = 3e7


def round_weights(
    weight: np.ndarray, moments: np.ndarray, *, qmin: int, qmax: int, steps: np.ndarray | None = None
) -> np.ndarray:
    """As numerics.rounding.round_weights, bit for bit."""
    groups, filters, taps = weight.shape
    if groups * taps * taps * (taps + filters) < FEW_STEPS:
        return rounding.round_weights(weight, moments, qmin=qmin, qmax=qmax, steps=steps)
    return rounding.round_weights(weight, moments, qmin=qmin, qmax=qmax, steps=steps, chosen=choose_codes)


def choose_codes(weight: np.ndarray, steps: np.ndarray, matrix: np.ndarray, qmin: int, qmax: int) -> np.ndarray:
    """Codes (groups, taps, filters) as numerics.rounding.chosen_codes gives them, taps in rising order of moments."""
    groups, taps, filters = weight.shape
    factor, walk = _compile_rounding()
    size, front = _whole_steps(taps, kernels.PADDING), _whole_steps(taps, kernels.PADDING) - taps
    upper, lower = (aligned_zeros((groups, size, size), "float64") for _ in range(2))
    diagonal = aligned_zeros((groups, size), "float64")
    upper[:, range(front), range(front)] = 1.0
    upper[:, front:, front:] = matrix
    factor(upper, lower, diagonal)
    whole = groups, size, _whole_steps(filters, kernels.LANES)
    padded, padded_steps, codes = (aligned_zeros(whole, "float64") for _ in range(3))
    padded_steps[:] = 1.0
    errors, limits = aligned_zeros((groups, 2, padded.shape[2]), "float64"), aligned_zeros((2,), "float64")
    padded[:, front:, :filters], padded_steps[:, front:, :filters], limits[:] = weight, steps, (qmin, qmax)
    walk(padded, padded_steps, lower, diagonal, limits, codes, errors)
    better = errors[:, 0, :filters] < errors[:, 1, :filters]
    return np.where(better[:, None, :], codes[:, front:, :filters], rounding.nearest_codes(weight / steps, qmin, qmax))


def _whole_steps(count: int, step: int) -> int:
    return -(-count // step) * step


@lru_cache(maxsize=1)
def _compile_rounding() -> tuple[Any, Any]:
    library = compile_functions({"factor_moments": kernels.factor(), "walk_taps": kernels.walk()})
    return library["factor_moments"], library["walk_taps"]
