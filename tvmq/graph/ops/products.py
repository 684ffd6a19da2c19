"""Products of codes that Relax lacks, in exact int32 sums.

R.tvmq.matmul(a, b): exact int32 product of matrices of codes, numerics.matmul; a requantize or dequantize follows.

sum over k of int32(a[..., m, k] - a_zero) * int32(b[..., k, n] - b_zero)        leading axes broadcast

R.tvmq.conv_transpose(x, w): exact int32 sums of a transposed convolution of codes, numerics.conv_transpose.

Relax's own operator takes the gaps between the elements of x for 0; codes need their zero point there.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import known_shape, register


@py_class("tvmq.attrs.Matmul", frozen=True)
class MatmulAttrs(tvm.ir.Attrs):
    """Zero points of the two arguments."""

    a_zero: int
    b_zero: int


def _infer_matmul(call: relax.Call, ctx: relax.BlockBuilder) -> relax.TensorType:
    """Relax's own rule for the shapes, with our element type."""
    a, b = (relax.Var("x", relax.TensorType(arg.ty.shape, "float32")) for arg in call.args)
    if min(len(arg.ty.shape) for arg in call.args) < 2:  # an error class of our own would not come back through TVM
        raise ValueError(f"tvmq.matmul: takes matrices. Got {call.args[0].ty.shape} and {call.args[1].ty.shape}")
    return relax.TensorType(ctx.normalize(relax.op.matmul(a, b)).ty.shape, "int32")


def _legalize_matmul(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs, shape = call.attrs, list(call.ty.shape)

    def compute(a: te.Tensor, b: te.Tensor) -> te.Tensor:
        k = te.reduce_axis((0, a.shape[-1]), name="k")

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            x = a(*_leading(a, i), i[-2], k)
            y = b(*_leading(b, i), k, i[-1])
            return te.sum((_int32(x) - attrs.a_zero) * (_int32(y) - attrs.b_zero), axis=k)

        return te.compute(shape, element, name="matmul")

    return bb.call_te(compute, *call.args, primfunc_name_hint="matmul_codes")


def _leading(tensor: te.Tensor, i: tuple[tirx.Var, ...]) -> list[tirx.PrimExpr]:
    """Indices of the leading axes of an operand that broadcasts."""
    last = list(i)[len(i) - len(tensor.shape) : -2]
    return [
        tirx.const(0, "int64") if isinstance(dim, tirx.IntImm) and int(dim) == 1 else at
        for dim, at in zip(tensor.shape, last, strict=False)
    ]


def _int32(value: tirx.PrimExpr) -> tirx.PrimExpr:
    return tirx.Cast("int32", value)


matmul = register("matmul", ("a", "b"), MatmulAttrs, _infer_matmul, _legalize_matmul)


@py_class("tvmq.attrs.ConvTranspose", frozen=True)
class ConvTransposeAttrs(tvm.ir.Attrs):
    """Options with one entry for each spatial axis (padding: all befores, then all afters), and the zero point of x."""

    strides: tvm_ffi.Array
    padding: tvm_ffi.Array
    output_padding: tvm_ffi.Array
    dilation: tvm_ffi.Array
    groups: int = 1
    zero_point: int = 0


def _infer_conv_transpose(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    attrs, shape = call.attrs, known_shape(call)
    weight = [int(d) for d in call.args[1].ty.shape]
    spatial = len(shape) - 2
    if len(weight) != len(shape) or int(shape[1]) != weight[0] or weight[0] % attrs.groups:
        raise ValueError(
            f"relax.tvmq.conv_transpose: {int(shape[1])} channels in {attrs.groups} groups do not fit weights {weight}"
        )
    sizes = [
        (shape[2 + axis] - 1) * int(attrs.strides[axis])
        + (weight[2 + axis] - 1) * int(attrs.dilation[axis])
        + 1
        + int(attrs.output_padding[axis])
        - int(attrs.padding[axis])
        - int(attrs.padding[axis + spatial])
        for axis in range(spatial)
    ]
    return relax.TensorType([shape[0], weight[1] * attrs.groups, *sizes], "int32")


def _legalize_conv_transpose(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs, shape = call.attrs, list(call.ty.shape)
    strides, dilation = [int(s) for s in attrs.strides], [int(d) for d in attrs.dilation]

    def compute(x: te.Tensor, w: te.Tensor) -> te.Tensor:
        depth, per_group = int(w.shape[0]) // attrs.groups, int(w.shape[1])
        channel = te.reduce_axis((0, depth), name="channel")
        taps = [te.reduce_axis((0, int(size)), name=f"tap{axis}") for axis, size in enumerate(w.shape[2:])]

        def element(n: tirx.Var, f: tirx.Var, *place: tirx.Var) -> tirx.PrimExpr:
            source = channel + tirx.floordiv(f, per_group) * depth
            where, inside = [], []
            for axis, (at, tap) in enumerate(zip(place, taps, strict=True)):
                position = at + int(attrs.padding[axis]) - tap * dilation[axis]
                index = tirx.floordiv(position, strides[axis])
                where.append(index)
                inside += [tirx.floormod(position, strides[axis]) == 0, index >= 0, index < x.shape[2 + axis]]
            code = tirx.if_then_else(
                tirx.all(*inside), tirx.Cast("int32", x(n, source, *where)), tirx.const(attrs.zero_point, "int32")
            )
            weight = tirx.Cast("int32", w(source, tirx.floormod(f, per_group), *taps))
            return te.sum(code * weight, axis=[channel, *taps])

        return te.compute(shape, element, name="conv_transpose")

    return bb.call_te(compute, *call.args, primfunc_name_hint="conv_transpose")


# x (N, C, spatial...) and w (C, F / groups, kernel...) hold integer codes
conv_transpose = register(
    "conv_transpose", ("x", "w"), ConvTransposeAttrs, _infer_conv_transpose, _legalize_conv_transpose
)
