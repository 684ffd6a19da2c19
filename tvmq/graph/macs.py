"""Multiply-accumulates of an operator, for the share of a network that computes in integers."""

from __future__ import annotations

import math

from tvm import relax

from tvmq.graph.view import op_name, shape_of, sizes_of

CONVOLUTIONS = ("nn.conv1d", "nn.conv2d", "nn.conv3d")
TRANSPOSED = ("nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose")
# Ours, on codes
CODES_TRANSPOSED = "tvmq.conv_transpose"
PRODUCTS = ("matmul", "tvmq.matmul")


def multiply_accumulates(call: relax.Expr) -> int:
    """Of a convolution in any layout, a transposed one or a product; 0 for what multiplies no matrices.

    Padding counts as if it were multiplied. A free dimension counts as 1: it is a batch, or the rest is for each of
    its elements.
    """
    name = op_name(call)
    if name in CONVOLUTIONS:
        return elements(call) * _taps(call, "O")
    if name in TRANSPOSED:
        return elements(call.args[0]) * _taps(call, "I")
    if name == CODES_TRANSPOSED:  # its weight is laid out as IO...
        return elements(call.args[0]) * math.prod(shape_of(call.args[1])[1:])
    if name in PRODUCTS:
        return elements(call) * _number(sizes_of(call.args[0])[-1])
    return 0


def _taps(call: relax.Call, axis: str) -> int:
    """Elements of the weight for one place of an axis of its layout."""
    weight = shape_of(call.args[1])
    return math.prod(weight) // weight[str(call.attrs.kernel_layout).index(axis)]


def elements(expr: relax.Expr) -> int:
    """Elements of a tensor; free dimensions count as 1."""
    return math.prod(map(_number, sizes_of(expr)))


def _number(size: int | str) -> int:
    return 1 if isinstance(size, str) else size
