"""R.tvmq.add_mask(x, mask): int32 scores plus an attention mask in their steps, numerics.add_mask; broadcasting.

clip(x + clip(clip(mask, -2^20, 2^20) * multiplier + offset, -2^30, 2^30), -(2^31 - 1), 2^31 - 1)
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.broadcast import broadcast_compute, broadcast_type
from tvmq.graph.ops.fixed_point import i64, wide
from tvmq.graph.ops.registry import register
from tvmq.numerics.add import LARGEST_STEP, LARGEST_VALUE
from tvmq.numerics.codes import INT32_MAX


@py_class("tvmq.attrs.AddMask", frozen=True)
class AddMaskAttrs(tvm.ir.Attrs):
    """Steps of the scores for a mask of 1, and for one of 0."""

    multiplier: int
    offset: int


def _infer(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    return broadcast_type(call, "int32", ctx)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def element(x: tirx.PrimExpr, mask: tirx.PrimExpr) -> tirx.PrimExpr:
        steps = _clipped(wide(mask), LARGEST_VALUE) * i64(attrs.multiplier) + i64(attrs.offset)
        return tirx.Cast("int32", _clipped(wide(x) + _clipped(steps, LARGEST_STEP), INT32_MAX))

    def compute(x: te.Tensor, mask: te.Tensor) -> te.Tensor:
        return broadcast_compute(x, mask, element, "add_mask")

    return bb.call_te(compute, *call.args, primfunc_name_hint="add_mask")


def _clipped(value: tirx.PrimExpr, limit: int) -> tirx.PrimExpr:
    return tirx.min(tirx.max(value, i64(-limit)), i64(limit))


add_mask = register("add_mask", ("x", "mask"), AddMaskAttrs, _infer, _legalize)
