"""NumPy's functions and operators of quantized tensors: comparisons, what moves codes, and a refusal of all else.

Tests: tests/tensors/test_qtensor.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tvmq.errors import UnsupportedOpError
from tvmq.numerics.codes import along_axis
from tvmq.tensors import code_moves

COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
# What rounds to a scale that somebody chooses -> the function that takes it
FUNCTIONALS: dict[Any, str] = {
    np.add: "add(a, b, scale=, zero_point=)",
    np.multiply: "mul(a, b, scale=, zero_point=)",
    np.matmul: "matmul(a, b, scale=, zero_point=)",
    np.dot: "matmul(a, b, scale=, zero_point=)",
}
# Computed on the real values, since nothing of them becomes codes
READS = (np.array_equal, np.allclose, np.isclose)


def is_qtensor(value: Any) -> bool:
    """True for a QTensor, whose class reads this module."""
    return hasattr(value, "qparams") and hasattr(value, "int_repr")


def exact_values(q: Any) -> np.ndarray:
    """(code - zero_point) * scale in float64, which holds it exactly: a difference of 17 bits, a scale of 24."""
    steps = q.codes - along_axis(q.zero_point, q.axis, q.shape).astype(np.float64)
    return np.asarray(steps * along_axis(q.scale, q.axis, q.shape).astype(np.float64))


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """A comparison of NumPy; UnsupportedOpError for every other function.

    Two quantized tensors are compared by their exact values, others with the real values in float32.
    """
    if ufunc not in COMPARISONS or method != "__call__" or options:
        raise refusal(ufunc)
    a, b = inputs
    if not (is_qtensor(a) and is_qtensor(b)):
        return ufunc(*[np.asarray(side) if is_qtensor(side) else side for side in (a, b)])
    if a.qparams == b.qparams and a.axis is None:
        return ufunc(a.codes, b.codes)
    return ufunc(exact_values(a), exact_values(b))


def apply_function(function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """A function of NumPy that needs no rounding; UnsupportedOpError for every other one."""
    if function in READS:
        return function(*[np.asarray(arg) if is_qtensor(arg) else arg for arg in args], **options)
    if function not in FUNCTIONS:
        raise refusal(function)
    return FUNCTIONS[function](*args, **options)


def refusal(function: Any) -> UnsupportedOpError:
    """The error that names what to call."""
    name = FUNCTIONALS.get(function)
    remedy = f"call tvmq.functional.{name}, or .dequantize() for floats" if name else "call .dequantize() for floats"
    return UnsupportedOpError(f"QTensor: what numpy.{function.__name__} gives has no code of the same scale; {remedy}")


def _method(name: str) -> Callable[..., Any]:
    return lambda q, *args, **options: getattr(q, name)(*args, **options)


def _moving(function: Callable[..., Any]) -> Callable[..., Any]:
    def move(q: Any, *args: Any, **options: Any) -> Any:
        return code_moves.move_codes(q, function.__name__, lambda array: function(array, *args, **options))

    return move


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): _method(name) for name in ("min", "max", "argmin", "argmax", "sort", "argsort")},
    **{function: _moving(function) for function in (
        np.transpose, np.reshape, np.ravel, np.squeeze, np.expand_dims, np.moveaxis, np.swapaxes, np.flip, np.roll,
        np.rot90, np.take, np.repeat, np.tile, np.broadcast_to, np.copy,
    )},
    np.concatenate: code_moves.join_codes,
    np.stack: lambda parts, axis=0: code_moves.join_codes(parts, axis, stack=True),
    np.shape: lambda q: q.shape,
    np.ndim: lambda q: q.ndim,
    np.size: lambda q: q.size,
}  # fmt: skip
