"""Sums and products of two activations in integers, and of a mask.

R.tvmq.add(a, b): sum of two activations in integers, numerics.add.

clip(((a * a_multiplier + b * b_multiplier + offset) >> shift) + zero_point, qmin, qmax)      broadcasting

R.tvmq.multiply(a, b): exact int32 product of the centred codes, numerics.multiply; a requantize follows.

int32(a - a_zero) * int32(b - b_zero)        broadcasting

R.tvmq.add_mask(x, mask): int32 scores plus an attention mask in their steps, numerics.add_mask; broadcasting.

clip(x + clip(clip(mask, -2^20, 2^20) * multiplier + offset, -2^30, 2^30), -(2^31 - 1), 2^31 - 1)

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.integer_norms import as_int64, i64
from tvmq.graph.ops.registry import broadcast_compute, broadcast_type, register
from tvmq.numerics.add_mask import LARGEST_STEP, LARGEST_VALUE
from tvmq.numerics.codes import INT32_MAX


@py_class("tvmq.attrs.Add", frozen=True)
class AddAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.add, named as in its formula above."""

    a_multiplier: int
    b_multiplier: int
    offset: int
    shift: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255


def _infer_add(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, call.attrs.dtype, ctx)


def _legalize_add(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(a: tirx.PrimExpr, b: tirx.PrimExpr) -> tirx.PrimExpr:
        total = tirx.Cast("int32", a) * attrs.a_multiplier + tirx.Cast("int32", b) * attrs.b_multiplier + attrs.offset
        code = (total >> attrs.shift) + attrs.zero_point
        return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, attrs.qmin), attrs.qmax))

    def compute(a: te.Tensor, b: te.Tensor) -> te.Tensor:
        return broadcast_compute(a, b, element, "add")

    return bb.call_te(compute, *call.args, primfunc_name_hint="add_codes")


# numerics.add_params gives the multipliers, offset and shift
add = register("add", ("a", "b"), AddAttrs, _infer_add, _legalize_add)


@py_class("tvmq.attrs.Multiply", frozen=True)
class MultiplyAttrs(tvm.ir.Attrs):
    """Zero points of the two arguments."""

    a_zero: int
    b_zero: int


def _infer_multiply(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, "int32", ctx)


def _legalize_multiply(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(a: tirx.PrimExpr, b: tirx.PrimExpr) -> tirx.PrimExpr:
        return (tirx.Cast("int32", a) - attrs.a_zero) * (tirx.Cast("int32", b) - attrs.b_zero)

    def compute(a: te.Tensor, b: te.Tensor) -> te.Tensor:
        return broadcast_compute(a, b, element, "multiply")

    return bb.call_te(compute, *call.args, primfunc_name_hint="multiply_codes")


multiply = register("multiply", ("a", "b"), MultiplyAttrs, _infer_multiply, _legalize_multiply)


@py_class("tvmq.attrs.AddMask", frozen=True)
class AddMaskAttrs(tvm.ir.Attrs):
    """Steps of the scores for a mask of 1, and for one of 0."""

    multiplier: int
    offset: int


def _infer_add_mask(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, "int32", ctx)


def _legalize_add_mask(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(x: tirx.PrimExpr, mask: tirx.PrimExpr) -> tirx.PrimExpr:
        steps = _clip(as_int64(mask), LARGEST_VALUE) * i64(attrs.multiplier) + i64(attrs.offset)
        return tirx.Cast("int32", _clip(as_int64(x) + _clip(steps, LARGEST_STEP), INT32_MAX))

    def compute(x: te.Tensor, mask: te.Tensor) -> te.Tensor:
        return broadcast_compute(x, mask, element, "add_mask")

    return bb.call_te(compute, *call.args, primfunc_name_hint="add_mask")


def _clip(value: tirx.PrimExpr, limit: int) -> tirx.PrimExpr:
    return tirx.min(tirx.max(value, i64(-limit)), i64(limit))


add_mask = register("add_mask", ("x", "mask"), AddMaskAttrs, _infer_add_mask, _legalize_add_mask)
