"""Operators of one tensor, value by value: tables, slopes below zero, factors along axes, the fence.

R.tvmq.table(q, values): 256-entry lookup, numerics.table; uint8 codes index directly, int8 codes by q + 128.

R.tvmq.prelu(q, slopes): another factor below zero, one for each channel, numerics.prelu; broadcasting.

clip(((d * (multiplier if d > 0 else slopes) + half) >> shift) + zero_point, qmin, qmax)        d = q - x_zero

R.tvmq.scale_shift(q, multiplier, offset): constants that vary over a tensor, numerics.scale_shift; broadcasting.

clip(((q * multiplier + offset) >> shift) + zero_point, qmin, qmax)

R.tvmq.fence(x): x, rounded to float32 here: no product before it is contracted with a sum behind it into an FMA.

With a fence behind every float operator that ends in a product, a chain of operators gives the same bits fused or not.

Tests: tests/passes/test_broadcast_constants.py
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import broadcast_all, broadcast_type, register, tensor_like
from tvmq.graph.ops.registry import fence as fenced


@py_class("tvmq.attrs.Table", frozen=True)
class TableAttrs(tvm.ir.Attrs):
    """function = display name of the function that the table computes; it has no effect."""

    function: str = ""


def _infer_table(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], str(call.args[1].ty.dtype))


def _legalize_table(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    offset = 128 if str(call.args[0].ty.dtype) == "int8" else 0

    def compute(q: te.Tensor, values: te.Tensor) -> te.Tensor:
        return te.compute(q.shape, lambda *i: values(tirx.Cast("int32", q(*i)) + offset), name="table")

    return bb.call_te(compute, *call.args, primfunc_name_hint="table")


# `values` has 256 entries of the result"s type
table = register("table", ("q", "values"), TableAttrs, _infer_table, _legalize_table)


@py_class("tvmq.attrs.Prelu", frozen=True)
class PreluAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.prelu, named as in its formula above; half is 2^(shift-1), 0 for shift 0."""

    multiplier: int
    shift: int
    x_zero: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255


def _infer_prelu(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, call.attrs.dtype, ctx)


def _legalize_prelu(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(q: tirx.PrimExpr, slope: tirx.PrimExpr) -> tirx.PrimExpr:
        steps = tirx.Cast("int32", q) - attrs.x_zero
        factor = tirx.Select(steps > 0, tirx.const(attrs.multiplier, "int32"), slope)
        code = ((steps * factor + 2**attrs.shift // 2) >> attrs.shift) + attrs.zero_point
        return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, attrs.qmin), attrs.qmax))

    def compute(*tensors: te.Tensor) -> te.Tensor:
        return broadcast_all(tensors, element, "prelu")

    return bb.call_te(compute, *call.args, primfunc_name_hint="prelu_codes")


# numerics.prelu_params gives slopes, multiplier and shift
prelu = register("prelu", ("q", "slopes"), PreluAttrs, _infer_prelu, _legalize_prelu)


@py_class("tvmq.attrs.ScaleShift", frozen=True)
class ScaleShiftAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.scale_shift, named as in its formula above."""

    shift: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255


def _infer_scale_shift(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, call.attrs.dtype, ctx)


def _legalize_scale_shift(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(q: tirx.PrimExpr, multiplier: tirx.PrimExpr, offset: tirx.PrimExpr) -> tirx.PrimExpr:
        code = ((tirx.Cast("int32", q) * multiplier + offset) >> attrs.shift) + attrs.zero_point
        return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, attrs.qmin), attrs.qmax))

    def compute(*tensors: te.Tensor) -> te.Tensor:
        return broadcast_all(tensors, element, "scale_shift")

    return bb.call_te(compute, *call.args, primfunc_name_hint="scale_shift")


# numerics.scale_shift_params gives multiplier, offset and shift
scale_shift = register(
    "scale_shift", ("q", "multiplier", "offset"), ScaleShiftAttrs, _infer_scale_shift, _legalize_scale_shift
)


@py_class("tvmq.attrs.Fence", frozen=True)
class FenceAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.fence: none."""


def _infer_fence(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize_fence(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    def compute(x: te.Tensor) -> te.Tensor:
        return te.compute(x.shape, lambda *i: fenced(x(*i)), name="fence")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="fence")


fence = register("fence", ("x",), FenceAttrs, _infer_fence, _legalize_fence)
