"""R.tvmq.requantize(acc, multiplier, shift): int32 accumulators to codes, numerics.requantize.

    mode "float"         clip(rint(float32(acc) * float32(multiplier)) + zero_point, qmin, qmax); shift is ignored
    mode "fixed_point"   int32 multiplier and shift in int64, rounding "UPWARD" (half up) or "TONEAREST" (half away from zero)
    mode "power_of_two"  shift alone: half up; multiplier is ignored
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import expose, register, tensor_like


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


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], call.attrs.dtype)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def compute(acc: te.Tensor, multiplier: te.Tensor, shift: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[attrs.axis],) if attrs.axis >= 0 else ()
            if attrs.mode == "float":
                steps = _float_steps(acc(*i), multiplier(*at), attrs)
            else:
                steps = _integer_steps(acc(*i), multiplier(*at), shift(*at), attrs)
            return tirx.Cast(attrs.dtype, steps)

        return te.compute(acc.shape, element, name="requantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="requantize")


def _float_steps(acc: tirx.PrimExpr, multiplier: tirx.PrimExpr, attrs: RequantizeAttrs) -> tirx.PrimExpr:
    # clipping before the conversion to int32 keeps products beyond 2^31 right
    low, high = (tirx.const(float(q - attrs.zero_point), "float32") for q in (attrs.qmin, attrs.qmax))
    steps = tirx.nearbyint(tirx.Cast("float32", acc) * multiplier)
    return tirx.Cast("int32", tirx.min(tirx.max(steps, low), high)) + tirx.const(attrs.zero_point, "int32")


def _integer_steps(
    acc: tirx.PrimExpr, multiplier: tirx.PrimExpr, shift: tirx.PrimExpr, attrs: RequantizeAttrs
) -> tirx.PrimExpr:
    one, zero = tirx.const(1, "int64"), tirx.const(0, "int64")
    wide = tirx.Cast("int64", acc)
    if attrs.mode == "fixed_point":
        left = tirx.max(shift, 0).astype("int64")
        wide = (wide << left) * tirx.Cast("int64", multiplier)
        right = tirx.const(31, "int64") + tirx.max(-shift, 0).astype("int64")
        half = one << (right - one)
        if attrs.rounding == "TONEAREST":
            half = half - tirx.Select(wide < zero, one, zero)
        wide = (wide + half) >> right
    else:
        right = tirx.max(shift, 0).astype("int64")
        half = tirx.Select(right > zero, one << tirx.max(right - one, zero), zero)
        wide = ((wide << tirx.max(-shift, 0).astype("int64")) + half) >> right
    wide = wide + tirx.const(attrs.zero_point, "int64")
    return tirx.min(tirx.max(wide, tirx.const(attrs.qmin, "int64")), tirx.const(attrs.qmax, "int64"))


OP = register("requantize", ("acc", "multiplier", "shift"), "tvmq.attrs.Requantize", _infer, _legalize)


def requantize(
    acc: relax.Expr,
    multiplier: relax.Expr,
    shift: relax.Expr,
    *,
    zero_point: int,
    axis: int = -1,
    mode: str = "float",
    rounding: str = "UPWARD",
    dtype: str = "uint8",
    qmin: int = 0,
    qmax: int = 255,
) -> relax.Call:
    """A call of the operator; multiplier (float32, or int32 in mode fixed_point) and shift (int32) rank 0 or per channel."""
    attrs = RequantizeAttrs(
        zero_point=zero_point, axis=axis, mode=mode, rounding=rounding, dtype=dtype, qmin=qmin, qmax=qmax
    )
    return relax.Call(OP, [acc, multiplier, shift], attrs)


expose("requantize", requantize)
