"""Convolutions and products of matrices, with their multiply-accumulates.

Padding counts as if it were multiplied. A dynamic dimension counts as 1: it is a batch, or the rest is for each of its
elements.

Tests: tests/runtime/test_dynamic_shapes.py
"""

from __future__ import annotations

import math

from tvm import relax

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
        Record(f"nn.conv{axes}d", CONVOLUTION, batch="first", integer=True, weight=1, weight_axis=0, macs=_convolution)
        for axes in (1, 2, 3)
    ),
    *(
        Record(f"nn.conv{axes}d_transpose", TRANSPOSED, batch="first", weight=1, weight_axis=1, macs=_deconvolution)
        for axes in (1, 2, 3)
    ),
    Record(
        "tvmq.conv_transpose", TRANSPOSED, batch="first", integer=True, weight=1, weight_axis=1, macs=_transposed_codes
    ),
    Record("matmul", PRODUCT, batch="product", integer=True, weight=1, weight_axis=-1, macs=matrix_product),
)
