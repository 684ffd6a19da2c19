"""Elementwise operators."""

from __future__ import annotations

from functools import reduce

import numpy as np
from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall, tensor_constant
from tvmq.graph.sizes import are_equal

WHOLE = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


def clip(call: NodeCall) -> relax.Expr:
    """Clip with constant bounds as relax.clip (TVM lowers it to TIR at once, which no pattern matches).

    A missing bound is the end of the element type; a NaN bound is no bound, as in onnxruntime. Bounds that are
    computed become maximum and minimum, in this order: where the lower one is above the upper one, all is the upper.
    """
    bounds = [call.input(1), call.input(2)]
    values = [call.constant(1), call.constant(2)]
    if any(bound is not None and value is None for bound, value in zip(bounds, values, strict=True)):
        low, high = bounds
        result = call.inputs[0] if low is None else relax.op.maximum(call.inputs[0], low)
        return result if high is None else relax.op.minimum(result, high)
    info = np.finfo(call.dtype()) if call.dtype().startswith("float") else np.iinfo(call.dtype())
    low, high = (
        float(end) if value is None or np.isnan(value.item()) else float(value.item())
        for value, end in zip(values, (info.min, info.max), strict=True)
    )
    high = min(high, float(info.max))
    return relax.op.clip(call.inputs[0], min(low, high), high)


def cast(call: NodeCall) -> relax.Expr | None:
    """Cast and CastLike of floats to integers as one operator, numerics.cast; TVM's wraps round what does not fit."""
    from onnx import helper

    x, like = call.inputs[0], call.input(1)
    if not all(isinstance(value, relax.Expr) for value in (x, like) if value is not None):
        return None
    wanted = str(helper.tensor_dtype_to_np_dtype(call.attributes["to"])) if like is None else call.dtype(1)
    if not call.dtype().startswith(("float", "bfloat")) or wanted not in WHOLE:
        return None
    return relax.op.astype(x, wanted)


def power(call: NodeCall) -> relax.Expr | None:
    """Pow with an exponent of another type: it is cast to the base's, whose type ONNX gives the result.

    A power of integers is imported for constant exponents 1 to 4, as products; TVM's is of floats only.
    """
    exponent = call.constant(1)
    if not call.dtype().startswith(("float", "bfloat")):
        if exponent is None or exponent.size != 1 or exponent.item() not in (1, 2, 3, 4):
            raise call.unsupported("a power of integers", "cast the base to float before it")
        result = call.inputs[0]
        for _ in range(int(exponent.item()) - 1):
            result = relax.op.multiply(result, call.inputs[0])
        return result
    if call.dtype(0) == call.dtype(1):
        return None
    if exponent is None:
        call.inputs[1] = relax.op.astype(call.inputs[1], call.dtype())
    else:
        call.inputs[1] = tensor_constant(exponent.astype(call.dtype()))
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
        raise call.unsupported("training mode", "export the model in evaluation mode")
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
        raise call.unsupported(f"a slope of shape {slope} is larger than its input {shape}", "expand the input before")
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


def maximum(call: NodeCall) -> relax.Expr:
    """Max as a chain of relax.maximum (TVM's stacks all inputs first)."""
    return reduce(relax.op.maximum, call.inputs)


def minimum(call: NodeCall) -> relax.Expr:
    """Min as a chain of relax.minimum."""
    return reduce(relax.op.minimum, call.inputs)
