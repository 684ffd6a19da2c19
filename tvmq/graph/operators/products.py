"""Convolutions and products of matrices, with their multiply-accumulates; those of codes that Relax lacks.

Padding counts as if it were multiplied. A dynamic dimension counts as 1: it is a batch, or the rest is for each of its
elements.

Tests: tests/runtime/test_dynamic_shapes.py
"""

from __future__ import annotations

import math

import numpy as np
from tvm import relax, te, tirx
from tvm.sym import Analyzer

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.loops import known_shape
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT, TRANSPOSED, Record
from tvmq.graph.view import shape_of, sizes_of


def _number(size: int | str) -> int:
    return 1 if isinstance(size, str) else size


def _elements(expr: relax.Expr) -> int:
    """Elements of a tensor; dynamic dimensions count as 1."""
    return math.prod(map(_number, sizes_of(expr)))


def _taps(call: relax.Call, axis: str) -> int:
    """Elements of the weight for one place of an axis of its layout."""
    weight = shape_of(call.args[1])
    return math.prod(weight) // weight[str(call.attrs.kernel_layout).index(axis)]


def _convolution(call: relax.Call) -> int:
    return _elements(call) * _taps(call, "O")


def _deconvolution(call: relax.Call) -> int:
    return _elements(call.args[0]) * _taps(call, "I")


def _transposed_codes(call: relax.Call) -> int:
    """Multiply-accumulates of our transposed convolution, whose weight is laid out as IO..."""
    return _elements(call.args[0]) * math.prod(shape_of(call.args[1])[1:])


def matrix_product(call: relax.Call) -> int:
    """Multiply-accumulates of a product of matrices, or of two stacks of them."""
    return _elements(call) * _number(sizes_of(call.args[0])[-1])


def state_products(call: relax.Call) -> int:
    """Multiply-accumulates of the states of all steps with a weight."""
    return _elements(call.args[0]) * _number(sizes_of(call.args[1])[0])


PRODUCTS = (
    *(
        Record(
            f"nn.conv{axes}d",
            CONVOLUTION,
            batch="first",
            integer=True,
            weight=1,
            weight_axis=0,
            macs=_convolution,
            definition=numerics.conv,
            attributes=("strides", "padding", "dilation", "groups"),
        )
        for axes in (1, 2, 3)
    ),
    *(
        Record(f"nn.conv{axes}d_transpose", TRANSPOSED, batch="first", weight=1, weight_axis=1, macs=_deconvolution)
        for axes in (1, 2, 3)
    ),
    Record(
        "matmul",
        PRODUCT,
        batch="product",
        integer=True,
        weight=1,
        weight_axis=-1,
        macs=matrix_product,
        definition=numerics.matmul,
    ),
)


def _infer_matmul(call: relax.Call, builder: relax.BlockBuilder) -> relax.TensorType:
    """Relax's own rule for the shapes, with our element type."""
    a, b = (relax.Var("x", relax.TensorType(arg.ty.shape, "float32")) for arg in call.args)
    if min(len(arg.ty.shape) for arg in call.args) < 2:  # an error class of our own would not come back through TVM
        raise ValueError(f"tvmq.matmul: takes matrices. Got {call.args[0].ty.shape} and {call.args[1].ty.shape}")
    return relax.TensorType(builder.normalize(relax.op.matmul(a, b)).ty.shape, "int32")


@declare(
    PRODUCT,
    numerics.matmul,
    infer=_infer_matmul,
    label="matmul_codes",
    batch="product",
    integer=True,
    weight=1,
    weight_axis=-1,
    macs=matrix_product,
)
def matmul(a: te.Tensor, b: te.Tensor, *, a_zero: int, b_zero: int, result: relax.TensorType) -> te.Tensor:
    """Exact int32 product of matrices of codes; a requantize or dequantize follows.

    sum over k of int32(a[..., m, k] - a_zero) * int32(b[..., k, n] - b_zero)        leading axes broadcast
    """
    k = te.reduce_axis((0, a.shape[-1]), name="k")

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        x, y = a(*_leading(a, i), i[-2], k), b(*_leading(b, i), k, i[-1])
        return te.sum((tirx.Cast("int32", x) - a_zero) * (tirx.Cast("int32", y) - b_zero), axis=k)

    return te.compute(list(result.shape), element, name="matmul")


def _leading(tensor: te.Tensor, i: tuple[tirx.Var, ...]) -> list[tirx.PrimExpr]:
    """Indices of the leading axes of an operand that broadcasts."""
    last = list(i)[len(i) - len(tensor.shape) : -2]
    return [
        tirx.const(0, "int64") if isinstance(dim, tirx.IntImm) and int(dim) == 1 else at
        for dim, at in zip(tensor.shape, last, strict=False)
    ]


def _infer_conv_transpose(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    attrs, shape = call.attrs, known_shape(call)
    weight = [int(d) for d in call.args[1].ty.shape]
    spatial = len(shape) - 2
    if len(weight) != len(shape) or int(shape[1]) != weight[0] or weight[0] % attrs.groups:
        raise ValueError(
            f"relax.tvmq.conv_transpose: {int(shape[1])} channels in {attrs.groups} groups do not fit weights {weight}"
        )
    sizes = []
    for axis in range(spatial):
        around = (weight[2 + axis] - 1) * int(attrs.dilation[axis]) + 1 + int(attrs.output_padding[axis])
        around -= int(attrs.padding[axis]) + int(attrs.padding[axis + spatial])
        # as Relax writes the sizes of its own operators, which the type of this one is compared with
        sizes.append(Analyzer().simplify((shape[2 + axis] - 1) * int(attrs.strides[axis]) + around))
    return relax.TensorType([shape[0], weight[1] * attrs.groups, *sizes], "int32")


def _define_conv_transpose(
    x: np.ndarray,
    w: np.ndarray,
    *,
    strides: tuple[int, ...],
    padding: tuple[int, ...],
    output_padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
    zero_point: int,
) -> np.ndarray:
    return numerics.conv_transpose(
        x,
        w,
        strides=strides,
        padding=padding,
        output_padding=output_padding,
        dilation=dilation,
        groups=groups,
        x_zero=zero_point,
    )


@declare(
    TRANSPOSED,
    _define_conv_transpose,
    infer=_infer_conv_transpose,
    batch="first",
    integer=True,
    weight=1,
    weight_axis=1,
    macs=_transposed_codes,
)
def conv_transpose(
    x: te.Tensor,
    w: te.Tensor,
    *,
    strides: tuple[int, ...],
    padding: tuple[int, ...],
    output_padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int = 1,
    zero_point: int = 0,
    result: relax.TensorType,
) -> te.Tensor:
    """Exact int32 sums of a transposed convolution of codes x (N, C, spatial...) and w (C, F / groups, kernel...).

    Relax's own operator takes the gaps between the elements of x for 0; codes need their zero point there.

    strides, output_padding, dilation  of each spatial axis
    padding                            all befores, then all afters
    zero_point                         of x
    """
    depth, per_group = int(w.shape[0]) // groups, int(w.shape[1])
    channel = te.reduce_axis((0, depth), name="channel")
    taps = [te.reduce_axis((0, int(size)), name=f"tap{axis}") for axis, size in enumerate(w.shape[2:])]

    def element(n: tirx.Var, f: tirx.Var, *place: tirx.Var) -> tirx.PrimExpr:
        source = channel + tirx.floordiv(f, per_group) * depth
        where, inside = [], []
        for axis, (at, tap) in enumerate(zip(place, taps, strict=True)):
            position = at + padding[axis] - tap * dilation[axis]
            index = tirx.floordiv(position, strides[axis])
            where.append(index)
            inside += [tirx.floormod(position, strides[axis]) == 0, index >= 0, index < x.shape[2 + axis]]
        code = tirx.if_then_else(
            tirx.all(*inside), tirx.Cast("int32", x(n, source, *where)), tirx.const(zero_point, "int32")
        )
        weight = tirx.Cast("int32", w(source, tirx.floormod(f, per_group), *taps))
        return te.sum(code * weight, axis=[channel, *taps])

    return te.compute(list(result.shape), element, name="conv_transpose")
