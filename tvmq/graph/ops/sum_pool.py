"""R.tvmq.sum_pool(q): exact int32 sums of centred codes over windows, numerics.sum_pool; padding contributes 0.

q is (batch, channels, one to three spatial axes). Average pooling is this and a requantize by 1 / count.
"""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import known_shape, register


@py_class("tvmq.attrs.SumPool", frozen=True)
class SumPoolAttrs(tvm.ir.Attrs):
    """kernel and strides for each spatial axis, padding (all befores, then all afters), zero point of the codes."""

    kernel: tvm_ffi.Array
    strides: tvm_ffi.Array
    padding: tvm_ffi.Array
    zero_point: int = 0


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    batch, channels, *sizes = known_shape(call)
    kernel, strides, padding = _plain(call.attrs)
    windows = [
        (size + padding[axis] + padding[axis + len(sizes)] - kernel[axis]) // strides[axis] + 1
        for axis, size in enumerate(sizes)
    ]
    return relax.TensorType([batch, channels, *windows], "int32")


def _plain(attrs: SumPoolAttrs) -> tuple[list[int], ...]:
    return tuple([int(value) for value in values] for values in (attrs.kernel, attrs.strides, attrs.padding))


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    shape, zero_point = list(call.ty.shape), call.attrs.zero_point
    kernel, strides, padding = _plain(call.attrs)

    def compute(q: te.Tensor) -> te.Tensor:
        taps = [te.reduce_axis((0, size), name=f"tap{axis}") for axis, size in enumerate(kernel)]

        def element(n: tirx.Var, c: tirx.Var, *window: tirx.Var) -> tirx.PrimExpr:
            at = [w * strides[axis] + taps[axis] - padding[axis] for axis, w in enumerate(window)]
            inside = tirx.all(*(bound for p, size in zip(at, q.shape[2:], strict=True) for bound in (p >= 0, p < size)))
            zero = tirx.const(0, "int32")
            code = tirx.if_then_else(inside, tirx.Cast("int32", q(n, c, *at)) - zero_point, zero)
            return te.sum(code, axis=taps)

        return te.compute(shape, element, name="sum_pool")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="sum_pool")


sum_pool = register("sum_pool", ("q",), SumPoolAttrs, _infer, _legalize)
