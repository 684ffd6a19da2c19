"""Matrix products with a constant right side (K, N): a 1 x 1 convolution of a picture of M x 1 pixels."""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.codegen.fusion import Chain
from tvmq.codegen.lower import Lowerer
from tvmq.codegen.lowerings.epilogue import finish_of
from tvmq.codegen.select import conv2d_kernel
from tvmq.graph.view import const_value, dtype_of, is_const, rank_of, shape_of
from tvmq.kernels.types import Conv2d


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel for the chain; False for products of two activations."""
    view = lowerer.view
    call = view.value[chain.head]
    data, weight = call.args
    if is_const(data) or not is_const(weight) or rank_of(weight) != 2:
        return False
    shape = shape_of(data)
    x_dtype = dtype_of(data)
    if len(shape) < 2 or x_dtype not in ("uint8", "int8", "float32"):
        return False
    if dtype_of(weight) != ("float32" if x_dtype == "float32" else "int8"):
        return False
    depth, columns = shape_of(weight)
    rows = int(np.prod(shape[:-1]))
    matrix = np.ascontiguousarray(const_value(weight).T).reshape(columns, depth, 1, 1)
    conv = Conv2d(1, rows, 1, depth, columns, x_dtype=x_dtype)
    finish = finish_of(view, chain, columns)
    kernel = conv2d_kernel(conv, matrix, finish.bias, 0, finish.epilogue, lowerer.isa)
    if kernel is None:
        return False
    inputs = [_as_picture(lowerer, name, rows) for name in (data.name, *finish.others)]
    out_dtype = dtype_of(view.var[finish.end])
    result = lowerer.call(kernel, inputs, (1, rows, 1, columns), out_dtype, f"{finish.end}_rows")
    lowerer.give_logical(finish.end, lowerer.reshaped(result, shape_of(view.var[finish.end]), finish.end))
    return True


def _as_picture(lowerer: Lowerer, name: str, rows: int) -> relax.Expr:
    value = lowerer.logical(name)
    return lowerer.reshaped(value, (1, rows, 1, int(value.ty.shape[-1])), f"{name}_rows")
