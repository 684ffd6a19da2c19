"""relay.qnn.op's functions of one 8-bit tensor, as tables of 256 codes: leaky_relu, sigmoid, tanh, exp, ...

    qnn.leaky_relu             codes in the scale of the result; below the zero point of the input times alpha, plus
                               (1 - alpha) times the zero point of the result, as multipliers of 31 bits and shifts
    qnn.sigmoid, tanh, ...     the function of the floats, rounded to codes as qnn.quantize does: numerics.make_table

Tests: tests/relay/test_qnn.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvmq import QParams, QuantSpec
from tvmq.errors import UnsupportedOpError
from tvmq.extension import ops
from tvmq.numerics import fixed_point_multiply, fixed_point_parameters, make_table
from tvmq.numerics.code_type import CODES_8
from tvmq.relay.expr import Call, Expr
from tvmq.relay.op.arguments import call
from tvmq.relay.op.qnn_lowering import read_numbers
from tvmq.relay.op.registry import register


def _hardswish(x: np.ndarray) -> np.ndarray:
    return np.asarray(x * np.clip(x + 3, 0, 6) / 6)


# relay reads public names alone, so these stand here beside tvmq/graph/evaluate.py
FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "abs": np.abs,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "exp": np.exp,
    "hardswish": _hardswish,
    "log": np.log,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}


def _read_codes(args: list[Any], what: str) -> tuple[QParams, QParams]:
    """Scale, zero point and type of the codes of a table and of its results, which have the same type."""
    dtype = str(args[0].ty.dtype)
    if dtype not in CODES_8:
        raise UnsupportedOpError(f"relay, {what}: {dtype} is not supported; use codes of 8 bits")
    scale, zero, out_scale, out_zero = read_numbers(args[1:], what)
    spec = QuantSpec(dtype)
    return QParams(scale, zero, spec), QParams(out_scale, out_zero, spec)


def _register_function(name: str, function: Callable[[np.ndarray], np.ndarray]) -> None:
    def where_defined(x: np.ndarray) -> np.ndarray:
        values = function(x)
        return np.where(np.isnan(values), -np.inf, values)  # the lowest code, as qnn.quantize gives for NaN

    @register(f"qnn.{name}")
    def lowering(emit: Any, args: list[Any], attrs: Any) -> Any:
        values = make_table(where_defined, *_read_codes(args, f"qnn.{name}"))
        return emit(ops.table(args[0], relax.const(values), function=name))


for _name, _function in FUNCTIONS.items():
    _register_function(_name, _function)


def _multiply(codes: np.ndarray, factor: float) -> np.ndarray:
    """int32 codes times a factor in fixed point, halves up."""
    return fixed_point_multiply(codes.astype(np.int32), *fixed_point_parameters(factor))


@register("qnn.leaky_relu", alpha=0.25)
def _leaky_relu(emit: Any, args: list[Any], attrs: Any) -> Any:
    x, y = _read_codes(args, "qnn.leaky_relu")
    limits = np.iinfo(x.spec.dtype)
    codes = np.arange(limits.min, limits.max + 1) - int(x.zero_point)
    steps = _multiply(codes, float(np.float64(x.scale) / np.float64(y.scale))) + int(y.zero_point)
    below = _multiply(steps, attrs.alpha) + _multiply(y.zero_point, 1 - attrs.alpha)
    values = np.where(codes < 0, below, steps).clip(limits.min, limits.max).astype(x.spec.dtype)
    return emit(ops.table(args[0], relax.const(values), function="leaky_relu"))


def leaky_relu(
    x: Expr, alpha: float, input_scale: Expr, input_zero_point: Expr, output_scale: Expr, output_zero_point: Expr
) -> Call:
    """Codes in another scale, those of negative numbers times alpha (0..1), as relay.qnn.op.leaky_relu."""
    qparams = (input_scale, input_zero_point, output_scale, output_zero_point)
    return call("qnn.leaky_relu", x, *qparams, alpha=float(alpha))


def _elementwise(name: str) -> Callable[..., Call]:
    def apply(x: Expr, scale: Expr, zero_point: Expr, output_scale: Expr, output_zero_point: Expr) -> Call:
        return call(f"qnn.{name}", x, scale, zero_point, output_scale, output_zero_point)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"{name} of what the codes mean, in codes of another scale, as relay.qnn.op.{name}."
    return apply


_ELEMENTWISE = {name: _elementwise(name) for name in FUNCTIONS}


def __getattr__(name: str) -> Any:
    """The functions of the table (PEP 562); as globals, abs would hide Python's own."""
    if name not in _ELEMENTWISE:
        raise AttributeError(f"module 'tvmq.relay.op.qnn_tables' has no attribute {name!r}")
    return _ELEMENTWISE[name]
