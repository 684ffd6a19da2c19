"""R.tvmq.requantize(acc, multiplier, shift): int32 accumulators, or codes, to codes of another scale:
numerics.requantize.

mode "float"         clip(rint(float32(acc) * float32(multiplier)) + zero_point, qmin, qmax); shift is ignored;
                     where acc < 0 the multiplier is float32(multiplier * negative_slope)
mode "fixed_point"   int32 multiplier and shift in int64, rounding "UPWARD" (half up) or "TONEAREST" (half away from
                     zero)
mode "power_of_two"  shift alone: half up; multiplier is ignored
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import register, tensor_like
from tvmq.graph.view import make_const


@py_class("tvmq.attrs.Requantize", frozen=True)
class RequantizeAttrs(tvm.ir.Attrs):
    """See the head of this file; axis of the channels is -1 for one multiplier."""

    zero_point: int
    axis: int = -1
    mode: str = "float"
    rounding: str = "UPWARD"
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255
    negative_slope: float = 1.0


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], call.attrs.dtype)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
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
    if attrs.mode == "power_of_two":  # 2^shift = 2^30 * 2^(shift + 1 - 31)
        multiplier, shift = np.full(np.shape(shift), 2**30, np.int64), np.asarray(shift, np.int64) + 1
    multiplier, shift = np.asarray(multiplier, np.int64), np.maximum(np.asarray(shift, np.int64), -32)
    left, right = np.maximum(shift, 0), 31 + np.maximum(-shift, 0)
    reach = 2**62 // np.maximum(multiplier << left, 1)
    return [np.asarray(value, np.int64) for value in (multiplier, left, right, reach)]


def _integer_compute(attrs: RequantizeAttrs) -> Callable[..., te.Tensor]:
    one, zero = tirx.const(1, "int64"), tirx.const(0, "int64")
    low, high = (tirx.const(q - attrs.zero_point, "int64") for q in (attrs.qmin, attrs.qmax))

    def compute(acc: te.Tensor, factor: te.Tensor, left: te.Tensor, right: te.Tensor, reach: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[attrs.axis],) if attrs.axis >= 0 else ()
            wide = tirx.Cast("int64", acc(*i))
            wide = tirx.min(tirx.max(wide, zero - reach(*at)), reach(*at))
            product = (wide << left(*at)) * factor(*at)
            half = one << (right(*at) - one)
            if attrs.rounding == "TONEAREST":
                half = half - tirx.Select(product < zero, one, zero)
            steps = (product + half) >> right(*at)
            steps = tirx.min(tirx.max(steps, low), high) + tirx.const(attrs.zero_point, "int64")
            return tirx.Cast(attrs.dtype, steps)

        return te.compute(acc.shape, element, name="requantize")

    return compute


# multiplier (float32, or int32 in mode fixed_point) and shift (int32) rank 0 or per channel
requantize = register("requantize", ("acc", "multiplier", "shift"), RequantizeAttrs, _infer, _legalize)
