"""Matrix products, by what stands on the right.

a constant (K, N)                  a 1 x 1 convolution of a picture of M x 1 pixels, with its chain (`lower`)
a constant in groups of depth      each group has a scale of its own: a kernel that reads 4 bits (`lower_groups`)
an activation                      attention.py

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm import relax

from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.conv.group_matmul import GroupProduct, choose_group_matmul
from tvmq.codegen.kernels.conv.matmul import multiply_rows
from tvmq.codegen.kernels.parts.kernel_types import CODE_LIMITS, Conv2d
from tvmq.codegen.lower.code_range import code_range
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.rules.attention import lower_float
from tvmq.codegen.lower.rules.epilogue import finish_of
from tvmq.graph.sizes import is_number, name_dynamic_sizes
from tvmq.graph.view import const_value, dtype_of, is_const, rank_of, shape_of


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a product with a constant and its chain to one kernel; that of two activations has its own rule."""
    view = lowerer.view
    call = view.value[chain.head]
    data, weight = call.args
    if not is_const(data) and not is_const(weight):
        return lower_float(lowerer, chain)
    if is_const(data) or rank_of(weight) != 2:
        return False
    x_dtype = dtype_of(data)
    if rank_of(data) < 2 or x_dtype not in (*CODE_LIMITS, "float32"):
        return False
    if dtype_of(weight) != ("float32" if x_dtype == "float32" else "int8"):
        return False
    depth, columns = shape_of(weight)
    finish = finish_of(view, chain, columns)
    leading, int4 = list(data.ty.shape)[:-1], lowerer.int4_weights.get(chain.head)
    codes = None if x_dtype == "float32" else code_range(view, data)
    if all(map(is_number, leading)):
        rows = math.prod(map(int, leading))
        matrix = np.ascontiguousarray(const_value(weight).T).reshape(columns, depth, 1, 1)
        conv = Conv2d(1, rows, 1, depth, columns, x_dtype=x_dtype)
        kernel = lowerer.choose(
            choose_convolution, conv, matrix, finish.bias, 0, finish.epilogue, int4=int4, codes=codes
        )
        before: list[Any] = [1, rows, 1]
    else:
        names = name_dynamic_sizes(leading)
        matrix = const_value(weight)
        kernel = multiply_rows(
            names, matrix, finish.bias, finish.epilogue, x_dtype, lowerer.isa, int4=int4, codes=codes
        )
        before = leading
    if kernel is None:
        return False

    def as_rows(name: str) -> relax.Expr:
        value = lowerer.logical(name)
        return lowerer.reshape(value, (*before, value.ty.shape[-1]), f"{name}_rows")

    inputs = [as_rows(name) for name in (data.name, *finish.others)]
    out_dtype = dtype_of(view.var[finish.end])
    result = lowerer.call(kernel, inputs, (*before, columns), out_dtype, f"{finish.end}_rows")
    lowerer.give_logical(finish.end, lowerer.reshape(result, list(view.var[finish.end].ty.shape), finish.end))
    return True


def lower_groups(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a product with a weight of 4-bit groups to one kernel; what follows goes the generic way."""
    call = lowerer.view.value[chain.head]
    x, x_scale, *weights = call.args
    if not all(map(is_const, weights)) or is_const(x) or is_const(x_scale):
        return False
    weight, scale, *offsets = (const_value(arg) for arg in weights)
    leading = tuple(name_dynamic_sizes(list(x.ty.shape)[:-1]))
    size, own = int(call.attrs.group_size), int(x_scale.ty.shape[-1]) == len(scale)
    depth, columns = weight.shape
    product = GroupProduct(leading, depth, columns, size, has_offsets=bool(offsets), group_scales=own)
    kernel = lowerer.choose(choose_group_matmul, product, weight, scale, offsets[0] if offsets else None)
    if kernel is None:
        return False
    inputs = [lowerer.logical(arg.name) for arg in (x, x_scale)]
    result = lowerer.call(kernel, inputs, list(call.ty.shape), "float32", chain.head)
    lowerer.give_logical(chain.head, result)
    lowerer.emit_unchanged(chain.members[chain.members.index(chain.head) + 1 :])
    return True
