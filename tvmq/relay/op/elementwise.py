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

# Operators of one and of two values that Relax has under the same name
UNARY = """abs acos acosh asin asinh atan atanh bitwise_not ceil cos erf exp floor isfinite isinf isnan log logical_not
    negative nn.relu nn.softplus round rsqrt sigmoid sign sin sqrt tan tanh trunc""".split()
BINARY = """add atan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide floor_mod greater greater_equal
    left_shift less less_equal logical_and logical_or logical_xor maximum minimum mod multiply not_equal power
    right_shift subtract""".split()


def relax_op(name: str) -> Callable[..., Any]:
    """Relax's function of a dotted name."""
    family, _, plain = name.rpartition(".")
    return getattr(getattr(relax.op, family) if family else relax.op, plain)


def register_same(name: str, relax_name: str, **defaults: Any) -> None:
    """Register an operator that Relax has: it takes the same operands, and the attributes behind them in this order."""
    register(name, **defaults)(lambda emit, args, attrs: emit(relax_op(relax_name)(*args, *attrs.values())))


for _name in (*UNARY, *BINARY):
    register_same(_name, _name)


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
