"""R.tvmq.conv_transpose(x, w): exact int32 sums of a transposed convolution of codes, numerics.conv_transpose.

Relax's own operator takes the gaps between the elements of x for 0; codes need their zero point there.
"""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import known_shape, register


@py_class("tvmq.attrs.ConvTranspose", frozen=True)
class ConvTransposeAttrs(tvm.ir.Attrs):
    """Options with one entry for each spatial axis (padding: all befores, then all afters), and the zero point of x."""

    strides: tvm_ffi.Array
    padding: tvm_ffi.Array
    output_padding: tvm_ffi.Array
    dilation: tvm_ffi.Array
    groups: int = 1
    zero_point: int = 0


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
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


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
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
conv_transpose = register("conv_transpose", ("x", "w"), ConvTransposeAttrs, _infer, _legalize)
