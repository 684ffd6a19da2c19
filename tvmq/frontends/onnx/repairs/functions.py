"""Functions of one tensor that TVM computes imprecisely, wrongly for NaN, or has no code for, and the remainder."""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall, tensor_constant

op = relax.op


def number(call: NodeCall, value: float) -> relax.Expr:
    """A scalar of the first input's element type."""
    return tensor_constant(np.array(value, call.dtype()))


def softplus(call: NodeCall) -> relax.Expr:
    """max(x, 0) + log(1 + e), e = exp(-|x|); TVM's log(1 + exp(x)) is infinite from 89 on.

    For e below 0.01 the logarithm is its series to the third power: 1 + e would lose the digits of e.
    """
    x = call.inputs[0]
    e = op.exp(op.negative(op.abs(x)))
    series = op.add(op.multiply(number(call, 1 / 3), e), number(call, -1 / 2))
    series = op.multiply(e, op.add(op.multiply(series, e), number(call, 1)))
    tail = op.where(op.less(e, number(call, 0.01)), series, op.log(op.add(number(call, 1), e)))
    return op.add(op.maximum(x, number(call, 0)), tail)


def mish(call: NodeCall) -> relax.Expr:
    """x * n / (n + 2), n = e * (e + 2), e = exp(min(x, 20)): tanh(log(1 + e)) without the loss of digits."""
    x = call.inputs[0]
    e = op.exp(op.minimum(x, number(call, 20)))
    n = op.multiply(e, op.add(e, number(call, 2)))
    return op.multiply(x, op.divide(n, op.add(n, number(call, 2))))


def cosh(call: NodeCall) -> relax.Expr:
    """exp(|x| - ln 2) + exp(-|x| - ln 2), which overflows where the result does (LLVM has no cosh)."""
    x = op.abs(call.inputs[0])
    half = number(call, np.log(2))
    return op.add(op.exp(op.subtract(x, half)), op.exp(op.subtract(op.negative(x), half)))


def sinh(call: NodeCall) -> relax.Expr:
    """Differences of exponentials as in cosh; near 0, where these cancel, the first terms of the series."""
    x = call.inputs[0]
    half = number(call, np.log(2))
    far = op.subtract(op.exp(op.subtract(x, half)), op.exp(op.subtract(op.negative(x), half)))
    square = op.multiply(x, x)
    series = number(call, 1 / 5040)
    for term in (1 / 120, 1 / 6, 1):  # up to x^7 / 7!: the rest is below 1e-8 of the result for |x| < 0.5
        series = op.add(op.multiply(series, square), number(call, term))
    return op.where(op.less(op.abs(x), number(call, 0.5)), op.multiply(x, series), far)


def elu(call: NodeCall) -> relax.Expr:
    """x above 0, else alpha * (exp(x) - 1); TVM's, made of relu, is 0 for NaN, and its numbers are float32 only."""
    return _exponential_unit(call, call.attributes.get("alpha", 1.0))


def selu(call: NodeCall) -> relax.Expr:
    """Elu times gamma."""
    result = _exponential_unit(call, call.attributes.get("alpha", 1.67326319217681884765625))
    return op.multiply(number(call, call.attributes.get("gamma", 1.05070102214813232421875)), result)


def celu(call: NodeCall) -> relax.Expr:
    """x above 0, else alpha * (exp(x / alpha) - 1); ONNX's own body makes a vector of a single number."""
    alpha = call.attributes.get("alpha", 1.0)
    return _exponential_unit(call, alpha, op.divide(call.inputs[0], number(call, alpha)))


def _exponential_unit(call: NodeCall, alpha: float, inner: relax.Expr | None = None) -> relax.Expr:
    """x above 0, else alpha * (exp(inner) - 1), `inner` x itself where it is left out."""
    x = call.inputs[0]
    tail = op.subtract(op.exp(x if inner is None else inner), number(call, 1))
    return op.where(op.greater(x, number(call, 0)), x, op.multiply(number(call, alpha), tail))


def thresholded_relu(call: NodeCall) -> relax.Expr:
    """x above alpha, else 0; TVM multiplies by 0, which makes NaN of infinities."""
    x = call.inputs[0]
    return op.where(op.greater(x, number(call, call.attributes.get("alpha", 1.0))), x, number(call, 0))


def sign(call: NodeCall) -> relax.Expr | None:
    """Sign of floats: 1, -1, and x itself where that is 0 or NaN (TVM's is 0 for NaN); of unsigned numbers: 0 or 1."""
    if call.dtype().startswith("uint"):
        return op.minimum(call.inputs[0], number(call, 1))
    if not call.dtype().startswith("float"):
        return None
    x, zero = call.inputs[0], number(call, 0)
    return op.where(op.greater(x, zero), number(call, 1), op.where(op.less(x, zero), number(call, -1), x))


def mod(call: NodeCall) -> relax.Expr | None:
    """Mod of floats with the sign of the divisor: the remainder of fmod, moved (TVM's is NaN for infinite divisors)."""
    if call.attributes.get("fmod", 0) or not call.dtype().startswith("float"):
        return None
    y, zero = call.inputs[1], number(call, 0)
    rest = op.mod(call.inputs[0], y)
    opposite = op.less(op.multiply(op.sign(rest), op.sign(y)), zero)
    return op.where(opposite, op.add(rest, y), rest)
