"""Ranges of tensors from how they are computed: codes, of which a kernel may prove more (see
kernels/conv/int16_accumulation), and magnitudes of floats, of which those with a bound are finite and no NaN.

Tests: tests/codegen/lower/test_early_codes.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvmq.graph.interpret import Function, Values, interpret
from tvmq.graph.operators import where
from tvmq.graph.operators.record import GATHER, RESIZE
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name

Range = tuple[int, int]
MOST = 1e30  # far below the largest float32: rounding does not matter
SUMS = 2.0**32  # no difference of two int32 is larger
# Every element of the result is one of an operand's, or the value of a border; indices may lie outside.
MOVES = where(commutes_with_quantize=True) - where(kind=RESIZE) - where(form=GATHER)


def code_range(view: View, expr: relax.Expr) -> Range:
    """Lowest and highest value that an integer tensor can hold.

    What an operator clips to, the entries of a table, or the union of what is moved; else all of the type.
    """
    known = _read_range(expr, _interpret_once(view, code_range, _range_function, _read_range))
    assert known is not None, expr.ty
    return known


def magnitude_bound(view: View, expr: relax.Expr) -> float | None:
    """A bound on the magnitude of a float tensor's elements; None where none is known.

    Inputs of a model have none: they may be NaN.
    """
    bound = _read_magnitude(expr, _interpret_once(view, magnitude_bound, _magnitude_function, _read_magnitude))
    return None if bound == np.inf else bound


def _interpret_once(view: View, question: object, function_of: Any, read: Any) -> Values:
    values = view.memo(question)
    if not values:
        list(interpret(view, function_of, values, read))
    return values


# ---- ranges of codes


def _read_range(expr: relax.Expr, values: Values) -> Range | None:
    """Range of an integer tensor, union of those in a tuple; None for all else."""
    if isinstance(expr, relax.Tuple):
        return _union([_read_range(item, values) for item in expr.fields])
    if "int" not in _dtype(expr):
        return None
    if is_const(expr):
        codes = const_value(expr)
        return (int(codes.min()), int(codes.max())) if codes.size else (0, 0)
    limits = np.iinfo(dtype_of(expr))
    known = values.get(expr.name) if isinstance(expr, relax.Var) else None
    return known or (int(limits.min), int(limits.max))


def _dtype(expr: relax.Expr) -> str:
    return dtype_of(expr) if isinstance(getattr(expr, "ty", None), relax.TensorType) else ""


def _union(ranges: Sequence[Range | None]) -> Range | None:
    known = [part for part in ranges if part is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _range_function(var: relax.Var, call: relax.Call) -> Function | None:
    if "int" not in _dtype(var):
        return None
    if hasattr(call.attrs, "qmin"):
        return lambda call, *_: (int(call.attrs.qmin), int(call.attrs.qmax))
    return RANGES.get(op_name(call))


def _moved_range(call: relax.Call, *args: Range | None) -> Range | None:
    """Union of the operands that have the type of the result, and of the border."""
    types = [dtype_of(call) if isinstance(arg, relax.Tuple) else _dtype(arg) for arg in call.args]
    moved = [part for part, dtype in zip(args, types, strict=True) if dtype == dtype_of(call)]
    if hasattr(call.attrs, "pad_value"):
        moved.append((int(call.attrs.pad_value),) * 2)
    return _union(moved)


RANGES: dict[str, Function] = {
    **dict.fromkeys(MOVES, _moved_range),
    "tvmq.table": lambda _call, _codes, values: values,
}

# ---- magnitudes of floats; infinity where no bound is known


def _read_magnitude(expr: relax.Expr, values: Values) -> float | None:
    """Bound of a float tensor, the largest of those in a tuple; None for all else."""
    if isinstance(expr, relax.Tuple):
        return max((b for b in (_read_magnitude(item, values) for item in expr.fields) if b is not None), default=None)
    if _dtype(expr) != "float32":
        return None
    if is_const(expr):
        return _drop_unusable(np.abs(const_value(expr)).max(initial=0.0))
    known = values.get(expr.name) if isinstance(expr, relax.Var) else None
    return np.inf if known is None else known


def _drop_unusable(bound: float) -> float:
    """The bound, if it says something; NaN does not."""
    return float(bound) if bound <= MOST else np.inf


def _magnitude_function(_var: relax.Var, call: relax.Call) -> Function | None:
    function = MAGNITUDES.get(op_name(call))
    if function is None:
        return None
    return lambda call, *args: _drop_unusable(function(call, *[bound for bound in args if bound is not None]))


def _clip_bound(call: relax.Call, *bounds: float) -> float:
    return max(*bounds, *(abs(float(limit.value)) for limit in call.args[1:]))


def _take_largest(call: relax.Call, *bounds: float) -> float:
    border = (abs(float(call.attrs.pad_value)),) if hasattr(call.attrs, "pad_value") else ()
    return max((*bounds, *border), default=np.inf)


def _one_of_finite(_call: relax.Call, *bounds: float) -> float:
    return np.inf if np.inf in bounds or not bounds else 1.0


def _dequantized_bound(call: relax.Call, *_: float) -> float:
    return SUMS * np.abs(const_value(call.args[1])).max(initial=0.0) if is_const(call.args[1]) else np.inf


MAGNITUDES: dict[str, Function] = {
    **dict.fromkeys(where(bounded_by_input=True) | MOVES, _take_largest),
    "add": lambda _call, *bounds: sum(bounds),
    "subtract": lambda _call, *bounds: sum(bounds),
    "multiply": lambda _call, *bounds: math.prod(bounds),
    **dict.fromkeys(("maximum", "minimum"), _take_largest),
    "clip": _clip_bound,
    **dict.fromkeys(where(bounded_by_one=True), _one_of_finite),
    "tvmq.dequantize": _dequantized_bound,
}
