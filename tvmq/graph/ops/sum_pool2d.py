"""R.tvmq.sum_pool2d(q): exact int32 sums of centred codes over windows (NCHW), numerics.sum_pool; padding contributes
0.

Average pooling is this and a requantize by 1 / count.
"""

from __future__ import annotations

from collections.abc import Sequence

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import expose, known_shape, register


@py_class("tvmq.attrs.SumPool2d", frozen=True)
class SumPool2dAttrs(tvm.ir.Attrs):
    """kernel and strides (rows, columns), padding (top, left, bottom, right), zero point of the codes."""

    kernel: tvm_ffi.Array
    strides: tvm_ffi.Array
    padding: tvm_ffi.Array
    zero_point: int = 0


def _out_size(size: int, kernel: int, stride: int, before: int, after: int) -> int:
    return (size + before + after - kernel) // stride + 1


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    attrs = call.attrs
    n, c, h, w = known_shape(call)
    top, left, bottom, right = (int(p) for p in attrs.padding)
    rows = _out_size(h, int(attrs.kernel[0]), int(attrs.strides[0]), top, bottom)
    columns = _out_size(w, int(attrs.kernel[1]), int(attrs.strides[1]), left, right)
    return relax.TensorType([n, c, rows, columns], "int32")


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs
    shape = list(call.ty.shape)
    top, left = int(attrs.padding[0]), int(attrs.padding[1])
    stride_h, stride_w = (int(s) for s in attrs.strides)

    def compute(q: te.Tensor) -> te.Tensor:
        i = te.reduce_axis((0, int(attrs.kernel[0])), name="i")
        j = te.reduce_axis((0, int(attrs.kernel[1])), name="j")

        def element(n: tirx.Var, c: tirx.Var, h: tirx.Var, w: tirx.Var) -> tirx.PrimExpr:
            row, column = h * stride_h + i - top, w * stride_w + j - left
            inside = tirx.all(row >= 0, row < q.shape[2], column >= 0, column < q.shape[3])
            zero = tirx.const(0, "int32")
            code = tirx.if_then_else(inside, tirx.Cast("int32", q(n, c, row, column)) - attrs.zero_point, zero)
            return te.sum(code, axis=[i, j])

        return te.compute(shape, element, name="sum_pool2d")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="sum_pool2d")


OP = register("sum_pool2d", ("q",), "tvmq.attrs.SumPool2d", _infer, _legalize)


def sum_pool2d(
    q: relax.Expr,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    zero_point: int = 0,
) -> relax.Call:
    """A call of the operator."""
    attrs = SumPool2dAttrs(
        kernel=[int(k) for k in kernel],
        strides=[int(s) for s in strides],
        padding=[int(p) for p in padding],
        zero_point=zero_point,
    )
    return relax.Call(OP, [q], attrs)


expose("sum_pool2d", sum_pool2d)
