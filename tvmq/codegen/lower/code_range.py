"""Which codes a tensor can hold, from how it is made: a kernel that knows may prove more (see
kernels/conv/int16_accumulation).

How large a float can become, from how it is made: what stays below is finite, and no NaN.

Tests: tests/codegen/lower/test_early_codes.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator

import numpy as np
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import GATHER, RESIZE
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name
from tvmq.graph.walk import resolve_each

Range = tuple[int, int]


def code_range(view: View, expr: relax.Expr) -> Range:
    """Lowest and highest value that an integer tensor can hold.

    What an operator clips to, the entries of a table, or the union of what is moved; else all of the type.
    """
    if is_const(expr):
        return _of_constant(expr)
    if not isinstance(expr, relax.Var):
        return _type_range(expr)
    return resolve_each(expr.name, lambda name: _of_variable(view, name), view.memo(code_range))


def _of_variable(view: View, name: str) -> Generator[str, Range, Range]:
    var, value = view.var[name], view.value.get(name)
    if not isinstance(value, relax.Call):
        return _type_range(var)
    if hasattr(value.attrs, "qmin"):
        return int(value.attrs.qmin), int(value.attrs.qmax)
    is_table = op_name(value) == "tvmq.table"
    if not is_table and op_name(value) not in MOVES:
        return _type_range(var)
    parts = [value.args[1]] if is_table else [part for part in _parts(value) if dtype_of(part) == dtype_of(var)]
    moved: list[Range] = []
    for part in parts:
        moved.append((yield part.name) if isinstance(part, relax.Var) else _of_constant(part))
    if hasattr(value.attrs, "pad_value"):
        moved.append((int(value.attrs.pad_value),) * 2)
    return (min(low for low, _ in moved), max(high for _, high in moved)) if moved else _type_range(var)


def _of_constant(expr: relax.Expr) -> Range:
    if not is_const(expr):
        return _type_range(expr)
    codes = const_value(expr)
    return (int(codes.min()), int(codes.max())) if codes.size else (0, 0)


def _type_range(expr: relax.Expr) -> Range:
    """All that the type can hold."""
    limits = np.iinfo(dtype_of(expr))
    return int(limits.min), int(limits.max)


# Every element of the result is one of an operand's, or the value of a border; indices may lie outside.
MOVES = where(commutes_with_quantize=True) - where(kind=RESIZE) - where(form=GATHER)


def _parts(value: relax.Call) -> list[relax.Expr]:
    """The tensors that a call reads, those of a tuple one by one."""
    parts: list[relax.Expr] = []
    for arg in value.args:
        parts += list(arg.fields) if isinstance(arg, relax.Tuple) else [arg]
    return [part for part in parts if isinstance(getattr(part, "ty", None), relax.TensorType)]


MOST = 1e30  # far below the magnitude_bound float32: rounding does not matter
SUMS = 2.0**32  # no difference of two int32 is larger
KEEPS = where(bounded_by_input=True) | MOVES
UNITS = where(bounded_by_one=True)
PAIRS: dict[str, Callable[[list[float]], float]] = {
    "add": sum,
    "subtract": sum,
    "multiply": math.prod,
    "maximum": max,
    "minimum": max,
}


def magnitude_bound(view: View, expr: relax.Expr) -> float | None:
    """A bound on the magnitude of a float tensor's elements; None where none is known.

    Inputs of a model have none: they may be NaN.
    """
    if is_const(expr):
        return _within(np.abs(const_value(expr)).max(initial=0.0))
    if not isinstance(expr, relax.Var):
        return None
    return resolve_each(expr.name, lambda name: _bounds_of_variable(view, name), view.memo(magnitude_bound))


def _bounds_of_variable(view: View, name: str) -> Generator[str, float | None, float | None]:
    value = view.value.get(name)
    if not isinstance(value, relax.Call):
        return None
    op = op_name(value)
    if op == "tvmq.dequantize":
        return _within(SUMS * np.abs(const_value(value.args[1])).max(initial=0.0)) if is_const(value.args[1]) else None
    if op in UNITS:
        source = yield value.args[0].name
        return None if source is None else 1.0
    if op not in (*KEEPS, *PAIRS, "clip"):
        return None
    bounds: list[float] = []
    for part in _tensors(value):
        bound = (yield part.name) if isinstance(part, relax.Var) else magnitude_bound(view, part)
        bounds.append(np.inf if bound is None else bound)
    if op == "clip":
        bounds += [abs(float(limit.value)) for limit in value.args[1:]]
    if hasattr(value.attrs, "pad_value"):
        bounds.append(abs(float(value.attrs.pad_value)))
    if not bounds:
        return None
    return _within(PAIRS[op](bounds) if op in PAIRS else max(bounds))


def _tensors(value: relax.Call) -> list[relax.Expr]:
    """The float tensors that a call reads, those of a tuple one by one."""
    parts: list[relax.Expr] = []
    for arg in value.args:
        parts += list(arg.fields) if isinstance(arg, relax.Tuple) else [arg]
    tensors = [part for part in parts if isinstance(getattr(part, "ty", None), relax.TensorType)]
    return [part for part in tensors if dtype_of(part) == "float32"]


def _within(bound: float) -> float | None:
    """The bound, if it says something; NaN does not."""
    return float(bound) if bound <= MOST else None
