"""R.tvmq.adaptive_sum_pool(q): exact int32 sums of centred codes under unequal windows, numerics.adaptive_sum_pool.

q is (batch, channels, one to three spatial axes); window i of m over n elements is
floor(i n / m) .. ceil((i + 1) n / m), the end excluded.
"""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import known_shape, register
from tvmq.numerics import adaptive_bounds


@py_class("tvmq.attrs.AdaptiveSumPool", frozen=True)
class AdaptiveSumPoolAttrs(tvm.ir.Attrs):
    """Number of windows along each spatial axis, zero point of the codes."""

    out_size: tvm_ffi.Array
    zero_point: int = 0


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    batch, channels, *_ = known_shape(call)
    return relax.TensorType([batch, channels, *(int(size) for size in call.attrs.out_size)], "int32")


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    shape, zero_point = list(call.ty.shape), call.attrs.zero_point

    def compute(q: te.Tensor) -> te.Tensor:
        sizes = [int(size) for size in q.shape[2:]]
        counts = [int(size) for size in shape[2:]]
        longest = [_longest(n, m) for n, m in zip(sizes, counts, strict=True)]
        taps = [te.reduce_axis((0, length), name=f"tap{axis}") for axis, length in enumerate(longest)]

        def element(n: tirx.Var, c: tirx.Var, *window: tirx.Var) -> tirx.PrimExpr:
            begins = [tirx.floordiv(w * size, m) for w, size, m in zip(window, sizes, counts, strict=True)]
            at = [begin + tap for begin, tap in zip(begins, taps, strict=True)]
            # p < ceil((w + 1) n / m)
            inside = tirx.all(*(p * m < (w + 1) * n for p, w, n, m in zip(at, window, sizes, counts, strict=True)))
            zero = tirx.const(0, "int32")
            code = tirx.if_then_else(inside, tirx.Cast("int32", q(n, c, *at)) - zero_point, zero)
            return te.sum(code, axis=taps)

        return te.compute(shape, element, name="adaptive_sum_pool")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="adaptive_sum_pool")


def _longest(size: int, count: int) -> int:
    begin, end = adaptive_bounds(size, count)
    return int((end - begin).max())


adaptive_sum_pool = register("adaptive_sum_pool", ("q",), AdaptiveSumPoolAttrs, _infer, _legalize)
