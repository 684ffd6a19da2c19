"""exp, sigmoid, tanh, erf and what is made of them on floats, in plain arithmetic that becomes vectors.

TVM calls a function of the C library for every number. Here exp is 2^n times a polynomial, tanh and erf are quotients
of two polynomials of the square; all within 6 units in the last place (tested against float64). Whatever the vector's
width, the operations are the same, so a function gives the same bits alone and fused with its neighbours.

exp      n = rint(x * log2 e), r = x - n * ln 2 in two parts, exp(r) by numerics.softmax's polynomial; 2^n in two
         factors, so that the ends of the range (denormal numbers, infinity) come out right
sigmoid  1 / (1 + exp(-x))
silu     x / (1 + exp(-x))
tanh     x * P(x^2) / Q(x^2) on |x| <= 9.1, where it is 1 in float32; P and Q by weighted least squares, 2.3e-8 relative
erf      the same on |x| <= 4; 2.5e-8 relative
gelu     0.5 * x * (1 + erf(x / sqrt(2)))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tvm import relax, te, tirx
from tvm.ir.prim.expr import Let
from tvm.tirx import const

from tvmq.graph.ops.registry import current_kind, fence
from tvmq.graph.view import dtype_of
from tvmq.numerics.softmax import EXP_COEFFICIENTS, LN2_HIGH, LN2_LOW, LOG2_E

Expr = Any
REAL = "float32"
EXP_LOW, EXP_HIGH = -104.0, 89.0  # exp is 0 below and infinite above
# Adding 1.5 * 2^23 to a float32 of magnitude below 2^22 rounds it to an integer, half to even.
ROUNDER = 1.5 * 2.0**23
TANH_END, ERF_END = 9.1, 4.0
TANH_OVER = tuple(map(float.fromhex, ("1", "0x1.11e90ap-3", "0x1.c9297cp-9", "0x1.57a1dap-16", "0x1.c4d058p-27")))
TANH_UNDER = tuple(map(float.fromhex, ("1", "0x1.de49ccp-2", "0x1.a77cc4p-6", "0x1.573344p-12", "0x1.9da22ap-21")))
ERF_OVER = tuple(
    map(
        float.fromhex,
        ("0x1.20dd74p0", "0x1.8c5832p-3", "0x1.b2fd84p-5", "0x1.fce5dep-9", "0x1.2a5e72p-12", "0x1.0aad12p-19"),
    )
)
ERF_UNDER = tuple(
    map(float.fromhex, ("1", "0x1.027aa4p-1", "0x1.d871a2p-4", "0x1.f242eep-7", "0x1.36bdb0p-10", "0x1.39e77cp-15"))
)


def legalize(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of the operators of FUNCTIONS: ours for float32 on CPUs, else TVM's."""
    name = call.op.name.removeprefix("relax.")
    x = call.args[0]
    if dtype_of(x) != REAL or current_kind() != "llvm":
        return call.op.get_attr("FLegalize")(builder, call)
    return builder.call_te(_element_wise, x, name, primfunc_name_hint=name.rpartition(".")[2])


def _element_wise(x: te.Tensor, name: str) -> te.Tensor:
    function = FUNCTIONS[name]
    # once read, a number is bound: the producer of x may become part of the expression
    return te.compute(x.shape, lambda *index: _bound(x(*index), function), name=name.rpartition(".")[2])


def exp(x: Expr) -> Expr:
    """e to the x."""
    return _bound(_limited(x, EXP_LOW, EXP_HIGH), _exp_inside)


def sigmoid(x: Expr) -> Expr:
    """1 / (1 + exp(-x))."""
    return const(1.0, REAL) / (const(1.0, REAL) + exp(-x))


def silu(x: Expr) -> Expr:
    """x * sigmoid(x), rounded once less."""
    return x / (const(1.0, REAL) + exp(-x))


def tanh(x: Expr) -> Expr:
    """Hyperbolic tangent."""
    return _odd_quotient(x, TANH_END, TANH_OVER, TANH_UNDER)


def erf(x: Expr) -> Expr:
    """Error function."""
    return _odd_quotient(x, ERF_END, ERF_OVER, ERF_UNDER)


def gelu(x: Expr) -> Expr:
    """0.5 * x * (1 + erf(x / sqrt(2)))."""
    return (const(0.5, REAL) * x) * (const(1.0, REAL) + erf(x * const(math.sqrt(0.5), REAL)))


FUNCTIONS: dict[str, Callable[[Expr], Expr]] = {
    "exp": exp,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "erf": erf,
    "nn.silu": silu,
    "nn.gelu": gelu,
}


def _bound(value: Expr, body: Callable[[Expr], Expr]) -> Expr:
    """body of a variable that holds the value: an expression used twice is computed twice."""
    var = tirx.Var("t", value.ty if hasattr(value, "ty") else value.dtype)
    return Let(var, value, body(var))


def _limited(x: Expr, low: float, high: float) -> Expr:
    """min(max(x, low), high); with the constants first NaN stays NaN."""
    return tirx.Min(const(high, REAL), tirx.Max(const(low, REAL), x))


def _exp_inside(x: Expr) -> Expr:
    # TVM would simplify a + b - b, were it not for the fence
    shifted = fence(x * const(float(LOG2_E), REAL) + const(ROUNDER, REAL))
    return _bound(shifted - const(ROUNDER, REAL), lambda n: _exp_of_parts(x, n))


def _exp_of_parts(x: Expr, n: Expr) -> Expr:
    rest = x - n * const(float(LN2_HIGH), REAL) - n * const(float(LN2_LOW), REAL)
    return _bound(rest, lambda r: _bound(tirx.Cast("int32", n), lambda whole: _scaled(_exp_polynomial(r), whole)))


def _exp_polynomial(r: Expr) -> Expr:
    q = _polynomial(r, [float(c) for c in EXP_COEFFICIENTS])
    return (q * r + const(1.0, REAL)) * r + const(1.0, REAL)


def _scaled(value: Expr, exponent: Expr) -> Expr:
    """value * 2^exponent."""
    half = tirx.shift_right(exponent, const(1, "int32"))
    return value * _power(half) * _power(exponent - half)


def _power(exponent: Expr) -> Expr:
    bits = tirx.shift_left(exponent + const(127, "int32"), const(23, "int32"))
    return tirx.reinterpret(REAL, bits)


def _polynomial(x: Expr, coefficients: Sequence[float]) -> Expr:
    value = const(coefficients[-1], REAL)
    for coefficient in coefficients[-2::-1]:
        value = value * x + const(coefficient, REAL)
    return value


def _odd_quotient(x: Expr, end: float, over: Sequence[float], under: Sequence[float]) -> Expr:
    """x * over(x^2) / under(x^2), at most 1; the ends hold beyond +-end."""

    def inside(t: Expr) -> Expr:
        return _bound(t * t, lambda s: _limited(t * _polynomial(s, over) / _polynomial(s, under), -1.0, 1.0))

    return _bound(_limited(x, -end, end), inside)
