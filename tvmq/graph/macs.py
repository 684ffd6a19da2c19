"""Multiply-accumulates of an operator, for the share of a network that computes in integers."""

from __future__ import annotations

import math

from tvm import relax

from tvmq.graph.view import op_name, shape_of

CONVOLUTIONS = ("nn.conv1d", "nn.conv2d", "nn.conv3d")
TRANSPOSED = ("nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose")


def multiply_accumulates(call: relax.Expr) -> int:
    """Of a convolution (OIHW weight), a transposed one (IOHW) or a product; 0 for all other operators.

    raises  ModelError for shapes that are not static
    """
    name = op_name(call)
    if name in CONVOLUTIONS:
        return math.prod(shape_of(call)) * math.prod(shape_of(call.args[1])[1:])
    if name in TRANSPOSED:
        return math.prod(shape_of(call.args[0])) * math.prod(shape_of(call.args[1])[1:])
    if name == "matmul":
        return math.prod(shape_of(call)) * shape_of(call.args[0])[-1]
    return 0
