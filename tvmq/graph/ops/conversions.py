"""Conversions between floats, accumulators and codes of another scale.

R.tvmq.quantize(x, scale, zero_point): numerics.quantize.

q = clip(rint(x / scale) + zero_point, qmin, qmax)      float32 division, half to even, NaN gives qmin

R.tvmq.dequantize(q, scale, zero_point): numerics.dequantize.

x = float32(q - zero_point) * scale       the difference in int32; q is a code or an int32 accumulator

R.tvmq.simulated_quantize(x, scale, zero_point): rounds to the codes of a spec and back, in float.

    y = (clip(rint(x / scale) + zero_point, qmin, qmax) - zero_point) * scale   (numerics.quantize, dequantize)

Before calibration the scale is 0 and the operator is the identity ("watch this tensor"). Attributes: kind "input" |
"weight" | "activation"; tensor = name under which statistics are kept (tensors that share it share their range);
dtype, bits, symmetric = the QuantSpec; axis of the channels, -1 for one scale.

R.tvmq.requantize(acc, multiplier, shift): int32 accumulators, or codes, to codes of another scale:
numerics.requantize.

mode "float"         clip(rint(float32(acc) * float32(multiplier)) + zero_point, qmin, qmax); shift is ignored;
                     where acc < 0 the multiplier is float32(multiplier * negative_slope)
mode "fixed_point"   int32 multiplier and shift in int64, rounding "UPWARD" (half up), "TONEAREST" (half away from
                     zero) or "DOUBLE" (two roundings)
mode "power_of_two"  shift alone; multiplier is ignored

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq import numerics
from tvmq.graph.ops.registry import fence, register, tensor_like
from tvmq.graph.view import make_const
from tvmq.numerics.rule_arithmetic import LARGEST_PRODUCT, SMALLEST_SHIFT
from tvmq.numerics.spec import QuantSpec


@py_class("tvmq.attrs.Quantize", frozen=True)
class QuantizeAttrs(tvm.ir.Attrs):
    """axis of the channels (-1: one scale), storage dtype and range of the codes."""

    axis: int = -1
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255


def _infer_quantize(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], call.attrs.dtype)


def _legalize_quantize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def compute(x: te.Tensor, scale: te.Tensor, zero: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[attrs.axis],) if attrs.axis >= 0 else ()
            z = zero(*at)
            low = tirx.Cast("float32", tirx.const(attrs.qmin, "int32") - z)
            high = tirx.Cast("float32", tirx.const(attrs.qmax, "int32") - z)
            steps = tirx.nearbyint(x(*i) / scale(*at))
            # max first: comparisons with NaN are false, so NaN becomes the lowest code
            steps = tirx.min(tirx.max(steps, low), high)
            return tirx.Cast(attrs.dtype, tirx.Cast("int32", steps) + z)

        return te.compute(x.shape, element, name="quantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="quantize")


# scale float32 and zero_point int32, rank 0 or one entry a channel
quantize = register("quantize", ("x", "scale", "zero_point"), QuantizeAttrs, _infer_quantize, _legalize_quantize)


@py_class("tvmq.attrs.Dequantize", frozen=True)
class DequantizeAttrs(tvm.ir.Attrs):
    """axis of the channels, -1 for one scale."""

    axis: int = -1


def _infer_dequantize(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], "float32")


def _legalize_dequantize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axis = call.attrs.axis

    def compute(q: te.Tensor, scale: te.Tensor, zero: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[axis],) if axis >= 0 else ()
            centred = tirx.Cast("int32", q(*i)) - zero(*at)
            return fence(tirx.Cast("float32", centred) * scale(*at))

        return te.compute(q.shape, element, name="dequantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="dequantize")


# scale float32 and zero_point int32, rank 0 or one entry a channel
dequantize = register(
    "dequantize", ("q", "scale", "zero_point"), DequantizeAttrs, _infer_dequantize, _legalize_dequantize
)


@py_class("tvmq.attrs.SimulatedQuantize", frozen=True)
class SimulatedQuantizeAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.simulated_quantize; see the head of this file."""

    kind: str
    tensor: str
    dtype: str = "uint8"
    bits: int = 8
    symmetric: bool = False
    axis: int = -1


def spec_of(attrs: SimulatedQuantizeAttrs) -> QuantSpec:
    """The QuantSpec that the attributes of a simulated_quantize describe, `call.attrs`."""
    return QuantSpec(dtype=attrs.dtype, bits=attrs.bits, symmetric=attrs.symmetric, per_channel=attrs.axis >= 0)


def is_calibrated(call: relax.Call) -> bool:
    """True once the scale of a simulated_quantize is known."""
    return bool((call.args[1].value.numpy() > 0).all())


def _infer_simulated_quantize(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    if len(call.args) != 3:
        raise ValueError("tvmq.simulated_quantize takes x, scale, zero_point")
    return call.args[0].ty


def _legalize_simulated_quantize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    if not is_calibrated(call):
        return call.args[0]
    spec, axis = spec_of(call.attrs), call.attrs.axis

    def compute(x: te.Tensor, scale: te.Tensor, zero: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[axis],) if axis >= 0 else ()
            z = zero(*at)
            low = tirx.Cast("float32", tirx.const(spec.qmin, "int32") - z)
            high = tirx.Cast("float32", tirx.const(spec.qmax, "int32") - z)
            steps = tirx.min(tirx.max(tirx.nearbyint(x(*i) / scale(*at)), low), high)
            # through an integer, as the codes go: minus zero becomes zero
            centred = tirx.Cast("float32", tirx.Cast("int32", steps))
            return fence(centred * scale(*at))

        return te.compute(x.shape, element, name="simulated_quantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="simulated_quantize")


# `scale` and `zero_point` are constants, rank 0 or one entry a channel
simulated_quantize = register(
    "simulated_quantize",
    ("x", "scale", "zero_point"),
    SimulatedQuantizeAttrs,
    _infer_simulated_quantize,
    _legalize_simulated_quantize,
)


@py_class("tvmq.attrs.Requantize", frozen=True)
class RequantizeAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.requantize; axis of the channels is -1 for one multiplier."""

    zero_point: int
    axis: int = -1
    mode: str = "float"
    rounding: str = "UPWARD"
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255
    negative_slope: float = 1.0


def _infer_requantize(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], call.attrs.dtype)


def _legalize_requantize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs
    if attrs.mode == "float":
        return bb.call_te(_float_compute(attrs), call.args[0], call.args[1], primfunc_name_hint="requantize")
    constants = _integer_constants(attrs, call.args[1].value.numpy(), call.args[2].value.numpy())
    args = [call.args[0], *(make_const(c) for c in constants)]
    return bb.call_te(_integer_compute(attrs), *args, primfunc_name_hint="requantize")


def _float_compute(attrs: RequantizeAttrs) -> Callable[[te.Tensor, te.Tensor], te.Tensor]:
    # clipping before the conversion to int32 keeps products beyond 2^31 right
    low, high = (tirx.const(float(q - attrs.zero_point), "float32") for q in (attrs.qmin, attrs.qmax))

    def compute(acc: te.Tensor, multiplier: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[attrs.axis],) if attrs.axis >= 0 else ()
            factor = multiplier(*at)
            if attrs.negative_slope != 1.0:
                shrunk = factor * tirx.const(attrs.negative_slope, "float32")
                factor = tirx.Select(tirx.Cast("int32", acc(*i)) < tirx.const(0, "int32"), shrunk, factor)
            steps = tirx.nearbyint(tirx.Cast("float32", acc(*i)) * factor)
            steps = tirx.Cast("int32", tirx.min(tirx.max(steps, low), high))
            return tirx.Cast(attrs.dtype, steps + tirx.const(attrs.zero_point, "int32"))

        return te.compute(acc.shape, element, name="requantize")

    return compute


def _integer_constants(attrs: RequantizeAttrs, multiplier: np.ndarray, shift: np.ndarray) -> list[np.ndarray]:
    """Factor, left shift, right shift and largest accumulator as int64; see numerics.fixed_point_multiply."""
    multiplier, shift = numerics.fixed_point_constants(multiplier, shift, attrs.mode)
    shift = np.maximum(shift, SMALLEST_SHIFT)
    left, right = np.maximum(shift, 0), 31 + np.maximum(-shift, 0)
    reach = LARGEST_PRODUCT // np.maximum(multiplier << left, 1)
    return [np.asarray(value) for value in (multiplier, left, right, reach)]


def _integer_compute(attrs: RequantizeAttrs) -> Callable[..., te.Tensor]:
    rule = numerics.rule_of_mode(attrs.mode, attrs.rounding)
    one, zero = tirx.const(1, "int64"), tirx.const(0, "int64")
    low, high = (tirx.const(q - attrs.zero_point, "int64") for q in (attrs.qmin, attrs.qmax))

    def compute(acc: te.Tensor, factor: te.Tensor, left: te.Tensor, right: te.Tensor, reach: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[attrs.axis],) if attrs.axis >= 0 else ()
            wide = tirx.Cast("int64", acc(*i))
            wide = tirx.min(tirx.max(wide, zero - reach(*at)), reach(*at))
            product = (wide << left(*at)) * factor(*at)
            half = one << (right(*at) - one)
            if rule.roundings[0] == "away":
                half = half - tirx.Select(product < zero, one, zero)
            if rule.rounds_twice:
                nudge = tirx.Select(product < zero, tirx.const(-(2**30), "int64"), tirx.const(2**30, "int64"))
                half = half + tirx.Select(right(*at) > tirx.const(31, "int64"), nudge, zero)
            steps = (product + half) >> right(*at)
            steps = tirx.min(tirx.max(steps, low), high) + tirx.const(attrs.zero_point, "int64")
            return tirx.Cast(attrs.dtype, steps)

        return te.compute(acc.shape, element, name="requantize")

    return compute


# multiplier (float32, or int32 in mode fixed_point) and shift (int32) rank 0 or per channel
requantize = register(
    "requantize", ("acc", "multiplier", "shift"), RequantizeAttrs, _infer_requantize, _legalize_requantize
)
