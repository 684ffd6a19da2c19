"""Weights in few bits: groups with a scale each, codes two to a byte.

R.tvmq.group_dequantize(q, scale): codes with a scale for each group of neighbours, numerics.group_dequantize.

float32(q[..., i, ...]) * scale[..., i // group_size, ...]

R.tvmq.unpack(packed, shape): int8 codes that are kept two to a byte, numerics.unpack_int4.

code i = byte i // 2, its low half for even i, else its high half; ((half ^ 8) - 8)

R.tvmq.group_matmul(x, x_scale, w, scale): rows of codes times codes in groups with a scale each, numerics.group_matmul.

t = t + float32(int32 sum over a group) * scale for all groups in order, then t * x_scale

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

import math

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import fence, known_shape, register, tensor_like


@py_class("tvmq.attrs.GroupDequantize", frozen=True)
class GroupDequantizeAttrs(tvm.ir.Attrs):
    """axis of the groups (not negative) and codes of a group."""

    axis: int
    group_size: int


def _infer_group_dequantize(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], "float32")


def _legalize_group_dequantize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axis, size = int(call.attrs.axis), int(call.attrs.group_size)

    def compute(q: te.Tensor, scale: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = [tirx.floordiv(index, size) if j == axis else index for j, index in enumerate(i)]
            return fence(tirx.Cast("float32", q(*i)) * scale(*at))

        return te.compute(q.shape, element, name="group_dequantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="group_dequantize")


# scale float32, shape of q with `axis` divided by group_size
group_dequantize = register(
    "group_dequantize", ("q", "scale"), GroupDequantizeAttrs, _infer_group_dequantize, _legalize_group_dequantize
)


@py_class("tvmq.attrs.Unpack", frozen=True)
class UnpackAttrs(tvm.ir.Attrs):
    """shape of the codes."""

    shape: tvm_ffi.Array


def _infer_unpack(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    shape = [int(d) for d in call.attrs.shape]
    needed = -(-math.prod(shape) // 2)
    packed = call.args[0].ty.shape
    if packed is None or [int(d) for d in packed] != [needed]:  # an error class of our own would not come back
        raise ValueError(f"{call.op.name}: codes of shape {shape} take uint8[{needed}], got {call.args[0].ty}")
    return relax.TensorType(shape, "int8")


def _legalize_unpack(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    shape = [int(d) for d in call.attrs.shape]
    pitch = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]

    def compute(packed: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = sum((index * step for index, step in zip(i, pitch, strict=True)), tirx.const(0, "int64"))
            byte = tirx.Cast("int32", packed(tirx.floordiv(at, 2)))
            half = tirx.bitwise_and(tirx.shift_right(byte, tirx.Cast("int32", tirx.floormod(at, 2)) * 4), 15)
            return tirx.Cast("int8", tirx.bitwise_xor(half, 8) - 8)

        return te.compute(shape, element, name="unpack")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="unpack")


# packed uint8 [ceil(number of codes / 2)]
unpack = register("unpack", ("packed",), UnpackAttrs, _infer_unpack, _legalize_unpack)


@py_class("tvmq.attrs.GroupMatmul", frozen=True)
class GroupMatmulAttrs(tvm.ir.Attrs):
    """Codes of a group."""

    group_size: int


def _infer_group_matmul(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return relax.TensorType([*list(known_shape(call))[:-1], call.args[2].ty.shape[1]], "float32")


def _legalize_group_matmul(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    size = int(call.attrs.group_size)

    def compute(x: te.Tensor, x_scale: te.Tensor, w: te.Tensor, scale: te.Tensor) -> te.Tensor:
        k, group = te.reduce_axis((0, size), name="k"), te.reduce_axis((0, scale.shape[0]), name="group")
        shape = [*list(x.shape)[:-1], w.shape[1]]

        def product(g: tirx.Var, *i: tirx.Var) -> tirx.PrimExpr:
            left, right = x(*i[:-1], g * size + k), w(g * size + k, i[-1])
            return te.sum(tirx.Cast("int32", left) * tirx.Cast("int32", right), axis=k)

        sums = te.compute([scale.shape[0], *shape], product, name="sums")

        def dequantize(g: tirx.Var, *i: tirx.Var) -> tirx.PrimExpr:
            return fence(tirx.Cast("float32", sums(g, *i)) * scale(g, i[-1]))

        parts = te.compute(sums.shape, dequantize, name="parts")
        total = te.compute(shape, lambda *i: te.sum(parts(group, *i), axis=group), name="total")
        return te.compute(shape, lambda *i: fence(total(*i) * x_scale(*i[:-1], 0)), name="group_matmul")

    return bb.call_te(compute, *call.args, primfunc_name_hint="group_matmul")


# x int8 [..., depth], x_scale float32 [..., 1], w int8 [depth, columns], scale float32 [depth / group_size, columns]
group_matmul = register(
    "group_matmul", ("x", "x_scale", "w", "scale"), GroupMatmulAttrs, _infer_group_matmul, _legalize_group_matmul
)
