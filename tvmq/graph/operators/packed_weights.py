"""Weights in few bits: groups with a scale each, codes two to a byte.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

import math

from tvm import relax, te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.loops import fence, infer_like, known_shape
from tvmq.graph.operators.products import matrix_product
from tvmq.graph.operators.record import CONVERSION, PRODUCT


@declare(CONVERSION, numerics.group_dequantize, infer=infer_like("float32"), batch="along", integer=True, weight=0)
def group_dequantize(q: te.Tensor, scale: te.Tensor, *, axis: int, group_size: int) -> te.Tensor:
    """Codes with a scale for each group of neighbours along an axis, which is not negative.

    float32(q[..., i, ...]) * scale[..., i // group_size, ...]
    """

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        at = [tirx.floordiv(index, group_size) if j == axis else index for j, index in enumerate(i)]
        return fence(tirx.Cast("float32", q(*i)) * scale(*at))

    return te.compute(q.shape, element, name="group_dequantize")


def _infer_unpack(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    shape = [int(d) for d in call.attrs.shape]
    needed = -(-math.prod(shape) // 2)
    packed = call.args[0].ty.shape
    if packed is None or [int(d) for d in packed] != [needed]:  # an error class of our own would not come back
        raise ValueError(f"{call.op.name}: codes of shape {shape} take uint8[{needed}], got {call.args[0].ty}")
    return relax.TensorType(shape, "int8")


@declare(CONVERSION, numerics.unpack_int4, infer=_infer_unpack, integer=True)
def unpack(packed: te.Tensor, *, shape: tuple[int, ...]) -> te.Tensor:
    """int8 codes that are kept two to a byte, uint8 [ceil(number of codes / 2)].

    code i = byte i // 2, its low half for even i, else its high half; ((half ^ 8) - 8)
    """
    pitch = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        at = sum((index * step for index, step in zip(i, pitch, strict=True)), tirx.const(0, "int64"))
        byte = tirx.Cast("int32", packed(tirx.floordiv(at, 2)))
        half = tirx.bitwise_and(tirx.shift_right(byte, tirx.Cast("int32", tirx.floormod(at, 2)) * 4), 15)
        return tirx.Cast("int8", tirx.bitwise_xor(half, 8) - 8)

    return te.compute(list(shape), element, name="unpack")


def _infer_groups(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    return relax.TensorType([*list(known_shape(call))[:-1], call.args[2].ty.shape[1]], "float32")


@declare(
    PRODUCT,
    numerics.group_matmul,
    infer=_infer_groups,
    batch="rows",
    integer=True,
    weight=2,
    weight_axis=-1,
    macs=matrix_product,
)
def group_matmul(x: te.Tensor, x_scale: te.Tensor, w: te.Tensor, scale: te.Tensor, *, group_size: int) -> te.Tensor:
    """Rows of codes times codes in groups with a scale each.

    t = t + float32(int32 sum over a group) * scale for all groups in order, then t * x_scale; or, with scales of the
    groups of rows, t = t + (float32(sum) * scale) * x_scale

    x, w            int8 [..., depth], [depth, columns]
    x_scale, scale  float32 [..., 1] or [..., depth / group_size], [depth / group_size, columns]
    """
    return _sum_groups(x, x_scale, w, scale, None, group_size, "group_matmul")


@declare(
    PRODUCT,
    numerics.group_offset_matmul,
    infer=_infer_groups,
    batch="rows",
    integer=True,
    weight=2,
    weight_axis=-1,
    macs=matrix_product,
)
def group_offset_matmul(
    x: te.Tensor, x_scale: te.Tensor, w: te.Tensor, scale: te.Tensor, offset: te.Tensor, *, group_size: int
) -> te.Tensor:
    """group_matmul of a weight whose groups have an offset each, float32 [depth / group_size, columns].

    A group adds float32(sum of x * w) * scale + float32(sum of x) * offset.
    """
    return _sum_groups(x, x_scale, w, scale, offset, group_size, "group_offset_matmul")


def _sum_groups(
    x: te.Tensor,
    x_scale: te.Tensor,
    w: te.Tensor,
    scale: te.Tensor,
    offset: te.Tensor | None,
    group_size: int,
    name: str,
) -> te.Tensor:
    k, group = te.reduce_axis((0, group_size), name="k"), te.reduce_axis((0, scale.shape[0]), name="group")
    shape = [*list(x.shape)[:-1], w.shape[1]]

    def product(g: tirx.Var, *i: tirx.Var) -> tirx.PrimExpr:
        left, right = x(*i[:-1], g * group_size + k), w(g * group_size + k, i[-1])
        return te.sum(tirx.Cast("int32", left) * tirx.Cast("int32", right), axis=k)

    sums = te.compute([scale.shape[0], *shape], product, name="sums")
    whole = None
    if offset is not None:
        wholes = [scale.shape[0], *list(x.shape)[:-1]]
        n = te.reduce_axis((0, group_size), name="n")
        whole = te.compute(
            wholes, lambda g, *i: te.sum(tirx.Cast("int32", x(*i, g * group_size + n)), axis=n), name="whole"
        )
    of_groups = int(x_scale.shape[-1]) == int(scale.shape[0])

    def dequantize(g: tirx.Var, *i: tirx.Var) -> tirx.PrimExpr:
        value = fence(tirx.Cast("float32", sums(g, *i)) * scale(g, i[-1]))
        if offset is not None and whole is not None:
            value = fence(value + fence(tirx.Cast("float32", whole(g, *i[:-1])) * offset(g, i[-1])))
        return fence(value * x_scale(*i[:-1], g)) if of_groups else value

    parts = te.compute(sums.shape, dequantize, name="parts")
    total = te.compute(shape, lambda *i: te.sum(parts(group, *i), axis=group), name=name if of_groups else "total")
    if of_groups:
        return total
    return te.compute(shape, lambda *i: fence(total(*i) * x_scale(*i[:-1], 0)), name=name)
