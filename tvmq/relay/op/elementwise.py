"""Operators on each element: arithmetic, comparisons, functions of one value, casts.

Tests: tests/relay/test_ops.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvmq.relay.expr import Call, Expr
from tvmq.relay.op.arguments import call
from tvmq.relay.op.registry import REQUIRED, register

# Relay's name -> Relax's
UNARY = {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atanh": "atanh",
    "bitwise_not": "bitwise_not", "ceil": "ceil", "cos": "cos", "erf": "erf", "exp": "exp",
    "floor": "floor", "isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan", "log": "log",
    "logical_not": "logical_not", "negative": "negative", "nn.relu": "nn.relu", "nn.softplus": "nn.softplus",
    "round": "round", "rsqrt": "rsqrt", "sigmoid": "sigmoid", "sign": "sign", "sin": "sin",
    "sqrt": "sqrt", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
BINARY = {
    "add": "add", "atan2": "atan2", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor", "divide": "divide", "equal": "equal", "floor_divide": "floor_divide",
    "floor_mod": "floor_mod", "greater": "greater", "greater_equal": "greater_equal", "left_shift": "left_shift",
    "less": "less", "less_equal": "less_equal", "logical_and": "logical_and", "logical_or": "logical_or",
    "logical_xor": "logical_xor", "maximum": "maximum", "minimum": "minimum", "mod": "mod", "multiply": "multiply",
    "not_equal": "not_equal", "power": "power", "right_shift": "right_shift", "subtract": "subtract",
}  # fmt: skip


def relax_op(name: str) -> Callable[..., Any]:
    """Relax's function of a dotted name."""
    family, _, plain = name.rpartition(".")
    return getattr(getattr(relax.op, family) if family else relax.op, plain)


def _same_operator(relax_name: str) -> Callable[[Any, list[Any], Any], Any]:
    """The Relax operator that takes the same operands and no attributes."""
    return lambda emit, args, attrs: emit(relax_op(relax_name)(*args))


for _relay, _relax in {**UNARY, **BINARY}.items():
    register(_relay)(_same_operator(_relax))


def _hyperbolic(name: str, join: str) -> None:
    """(e^x - e^-x) / 2 and (e^x + e^-x) / 2, as LLVM computed them for Relay; TVM's code for CPUs knows neither."""

    @register(name)
    def lowering(emit: Any, args: list[Any], attrs: Any) -> Any:
        up = emit(relax.op.exp(args[0]))
        down = emit(relax.op.exp(emit(relax.op.negative(args[0]))))
        half = relax.const(np.array(0.5), str(args[0].ty.dtype))
        return emit(relax.op.multiply(emit(relax_op(join)(up, down)), half))


_hyperbolic("sinh", "subtract")
_hyperbolic("cosh", "add")


def _unary(name: str) -> Callable[[Expr], Call]:
    def apply(data: Expr) -> Call:
        return call(name, data)

    apply.__name__ = apply.__qualname__ = name.rpartition(".")[2]
    apply.__doc__ = f"{name} of each element, as relay.{name}."
    return apply


def _binary(name: str) -> Callable[[Expr, Expr], Call]:
    def apply(lhs: Expr, rhs: Expr) -> Call:
        return call(name, lhs, rhs)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"{name} of two tensors, shapes as NumPy broadcasts them, as relay.{name}."
    return apply


FUNCTIONS: dict[str, Callable[..., Call]] = {name: _unary(name) for name in (*UNARY, "sinh", "cosh")}
FUNCTIONS |= {name: _binary(name) for name in BINARY}
relu, softplus = FUNCTIONS["nn.relu"], FUNCTIONS["nn.softplus"]


def __getattr__(name: str) -> Any:
    """The functions of the two tables (PEP 562); as globals, some would hide Python's own."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'tvmq.relay.op.elementwise' has no attribute {name!r}")
    return FUNCTIONS[name]


@register("cast", dtype=REQUIRED)
def _cast(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.astype(args[0], str(attrs.dtype)))


@register("clip", a_min=REQUIRED, a_max=REQUIRED)
def _clip(emit: Any, args: list[Any], attrs: Any) -> Any:
    whole = "int" in str(args[0].ty.dtype)
    low, high = ((int if whole else float)(bound) for bound in (attrs.a_min, attrs.a_max))
    return emit(relax.op.clip(args[0], relax.prim_value(low), relax.prim_value(high)))


def cast(data: Expr, dtype: str) -> Call:
    """The values in another element type, as relay.cast."""
    return call("cast", data, dtype=str(dtype))


def clip(a: Expr, a_min: float, a_max: float) -> Call:
    """Each element, at least a_min and at most a_max, as relay.clip; bounds of integers lose their fractions."""
    return call("clip", a, a_min=float(np.asarray(a_min)), a_max=float(np.asarray(a_max)))
