"""Repairs of elementwise operators that TVM computes imprecisely, wrongly for NaN, or not at all.

Also ArgMax and ArgMin along an empty axis, which are refused, and TopK of element types that TVM's sort lacks.

Tests: tests/formats/onnx/importer/test_repairs.py
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from tvm import relax

from tvmq.formats.onnx.importer.repairs.node import FIX_SHAPES, Dims, NodeCall, tensor_constant
from tvmq.graph.size_text import shape_text, size_text
from tvmq.graph.sizes import are_equal

INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


def clip(call: NodeCall) -> relax.Expr:
    """Clip with constant bounds as relax.clip (TVM lowers it to TIR at once, which no pattern matches).

    A missing bound is the end of the element type; a NaN bound is no bound, as in onnxruntime. Bounds that are
    computed become maximum and minimum, in this order: where the lower one is above the upper one, all is the upper.
    """
    bounds = [call.input(1), call.input(2)]
    values = [call.constant(1), call.constant(2)]
    if any(bound is not None and value is None for bound, value in zip(bounds, values, strict=True)):
        return _limit(call)
    info = np.finfo(call.dtype()) if call.dtype().startswith("float") else np.iinfo(call.dtype())
    ends = [end if value is None else value.item() for value, end in zip(values, (info.min, info.max), strict=True)]
    if isinstance(info, np.iinfo) and any(int(float(end)) != end for end in ends):
        return _limit(call)  # relax.clip holds its bounds as float64
    low, high = (
        float(end) if value is None or np.isnan(value.item()) else float(value.item())
        for value, end in zip(values, (info.min, info.max), strict=True)
    )
    high = min(high, float(info.max))
    return relax.op.clip(call.inputs[0], min(low, high), high)


def _limit(call: NodeCall) -> relax.Expr:
    """Clip by maximum and minimum: for bounds that are not constants, and integers that float64 does not have."""
    result = call.inputs[0]
    for bound, limit in ((call.input(1), relax.op.maximum), (call.input(2), relax.op.minimum)):
        result = result if bound is None else limit(result, bound)
    return result


def cast(call: NodeCall) -> relax.Expr | None:
    """Cast and CastLike of floats to integers as one operator, numerics.cast; TVM's wraps round what does not fit."""
    from onnx import helper

    x, like = call.inputs[0], call.input(1)
    if not all(isinstance(value, relax.Expr) for value in (x, like) if value is not None):
        return None
    wanted = str(helper.tensor_dtype_to_np_dtype(call.attributes["to"])) if like is None else call.dtype(1)
    if not call.dtype().startswith(("float", "bfloat")) or wanted not in INTEGERS:
        return None
    return relax.op.astype(x, wanted)


def power(call: NodeCall) -> relax.Expr | None:
    """Pow with an exponent of another type: it is cast to the base's, whose type ONNX gives the result.

    A power of integers is imported for constant exponents 1 to 4, as products; TVM's is of floats only.
    """
    exponent = call.constant(1)
    if not call.dtype().startswith(("float", "bfloat")):
        if exponent is None or exponent.size != 1 or exponent.item() not in (1, 2, 3, 4):
            raise call.unsupported_error("this power of integers is not supported", "cast the base to float first")
        result = call.inputs[0]
        for _ in range(int(exponent.item()) - 1):
            result = relax.op.multiply(result, call.inputs[0])
        return result
    if call.dtype(0) == call.dtype(1):
        return None
    dtype = call.dtype()
    call.inputs[1] = (
        relax.op.astype(call.inputs[1], dtype) if exponent is None else tensor_constant(exponent.astype(dtype))
    )
    return None


def is_inf(call: NodeCall) -> relax.Expr | None:
    """IsInf that looks for one sign only (TVM ignores its attributes)."""
    signs = [call.attributes.get("detect_positive", 1), call.attributes.get("detect_negative", 1)]
    if all(signs):
        return None
    x = call.inputs[0]
    zero = tensor_constant(np.zeros((), call.dtype()))
    compare = relax.op.greater if signs[0] else relax.op.less
    if not any(signs):
        return relax.op.less(relax.op.abs(x), zero)  # never true
    return relax.op.logical_and(relax.op.isinf(x), compare(x, zero))


def dropout(call: NodeCall) -> relax.Expr:
    """Dropout passes its input through, all of it; training is refused."""
    training = call.constant(2)
    if call.input(2) is not None and (training is None or training.item()):
        raise call.unsupported_error("training mode is not supported", "export the model in evaluation mode")
    if len(call.outputs) == 1:
        return call.inputs[0]
    mask = relax.op.full(call.shape(), relax.const(True, "bool"), "bool")  # nothing is dropped
    return relax.Tuple([call.inputs[0], mask])


def prelu(call: NodeCall) -> None:
    """PRelu with a slope of more axes than x, all of size 1: ONNX broadcasts slopes to x, never x to them."""
    shape, slope = call.shape(0), call.shape(1)
    extra = max(len(slope) - len(shape), 0)
    wanted = ([1] * extra + shape)[-len(slope) :] if slope else []
    # one axis alone is a slope for each channel, as models of before opset 7 have it
    fits = (are_equal(a, 1) or are_equal(a, b) for a, b in zip(slope, wanted, strict=True))
    if (extra or len(slope) > 1) and not all(fits):
        raise call.unsupported_error(
            f"its slope of shape {shape_text(slope)} is larger than its input of shape {shape_text(shape)}",
            "expand the input first",
        )
    if not extra:
        return
    call.inputs[1] = call.builder.emit(relax.op.reshape(call.inputs[1], slope[extra:]))


def bit_shift(call: NodeCall) -> relax.Expr:
    """BitShift; shifts by the width of the type or more push all bits out (the machine's count modulo the width)."""
    shift = relax.op.left_shift if call.text("direction", "") == "LEFT" else relax.op.right_shift
    x, count = call.inputs
    kind = np.dtype(call.dtype())
    width, zero = (tensor_constant(np.array(value, kind)) for value in (8 * kind.itemsize, 0))
    inside = relax.op.less(count, width)
    if kind.kind == "i":
        inside = relax.op.logical_and(inside, relax.op.greater_equal(count, zero))
    signed_right = kind.kind == "i" and shift is relax.op.right_shift
    outside = shift(x, tensor_constant(np.array(8 * kind.itemsize - 1, kind))) if signed_right else zero
    return relax.op.where(inside, shift(x, relax.op.where(inside, count, zero)), outside)


def extreme(call: NodeCall) -> relax.Expr:
    """Max and Min as a chain of two-sided operators (TVM's stack all inputs first)."""
    return reduce(relax.op.maximum if call.op_type == "Max" else relax.op.minimum, call.inputs)


def mean(call: NodeCall) -> relax.Expr | None:
    """ReduceMean of integers: the sum in 64 bits by the count, rounded towards 0, in the type of x."""
    dtype = call.dtype()
    if not dtype.startswith(("int", "uint")):
        return None
    axes = call.dims(1) if call.input(1) is not None else call.attributes.get("axes")
    if not axes and call.attributes.get("noop_with_empty_axes", 0):
        return call.inputs[0]
    shape = call.shape()
    axes = sorted(axis % len(shape) for axis in axes) if axes else list(range(len(shape)))
    count = math.prod(shape[axis] for axis in axes)
    if not isinstance(count, int) or not count:
        raise call.unsupported_error(f"a mean of {count} integers is not supported", FIX_SHAPES)
    wide = "uint64" if dtype.startswith("uint") else "int64"
    total = op.sum(op.astype(call.inputs[0], wide), axes, bool(call.attributes.get("keepdims", 1)))
    return op.astype(op.divide(total, tensor_constant(np.array(count, wide))), dtype)


def position_of_extreme(call: NodeCall) -> None:
    """ArgMax, ArgMin: there is no place in an axis without values, and TVM's would be any number."""
    axis = call.axis(0)
    if call.shape()[axis : axis + 1] == [0]:
        raise call.unsupported_error(f"axis {axis} is empty", "remove the node, or give it a tensor that is not empty")


SORTABLE = ("float64", "float32", "int64", "int32")


def top_k(call: NodeCall) -> relax.Expr | None:
    """TopK of small integers is computed in int32 (uint32: int64)."""
    dtype = call.dtype()
    k = call.constant(1)
    if k is None and isinstance(call.input(1), Dims):
        raise call.unsupported_error(f"k is {size_text(call.input(1).values.flat[0])}, no constant", FIX_SHAPES)
    if k is None:
        raise call.unsupported_error("k is not a constant", "export the model with a constant k")
    size = call.shape()[call.axis(-1)]
    if int(k.item()) < 1 or (isinstance(size, int) and int(k.item()) > size):
        most = size_text(size)
        raise call.unsupported_error(f"k is {int(k.item())}, but its axis has size {most}", f"use a k from 1 to {most}")
    call.attributes["sorted"] = 1  # in any order is in this one too, and TVM refuses to be told otherwise
    if dtype in SORTABLE:
        return None
    if dtype == "uint64" or not dtype.startswith(("int", "uint")):
        raise call.unsupported_error(f"element type {dtype} is not supported", "cast to float32 or int64 first")
    wide = relax.op.astype(call.inputs[0], "int64" if dtype == "uint32" else "int32")
    largest = bool(call.attributes.get("largest", 1))
    both = call.builder.emit(relax.op.topk(wide, int(k.item()), call.axis(-1), "both", largest, "int64"))
    return relax.Tuple([relax.op.astype(relax.TupleGetItem(both, 0), dtype), relax.TupleGetItem(both, 1)])


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
