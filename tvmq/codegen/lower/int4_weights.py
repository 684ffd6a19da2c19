"""Weights of at most 4 bits of float layers, for kernels that read codes and scales instead of floats.

Weights that a module keeps as codes and computes with as floats: dequantized when it is compiled.

So the kernels of float models serve a module with quantized weights alone. Those of 4 bits are read as codes all the
same where a kernel can (int4_weights.py); all others stand in the executable as floats.

Tests: tests/passes/test_quantize_dynamic.py
"""

from __future__ import annotations

import numpy as np
import tvm
from tvm import relax

from tvmq import numerics
from tvmq.codegen.kernels.parts.packing import Int4Weights
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, is_const, make_const, op_name, rank_of


def find_int4_weights(mod: tvm.IRModule) -> dict[str, Int4Weights]:
    """{variable of a convolution or product: its weight}, of those whose weight is dequantized codes of 4 bits."""
    view, weights = View(mod), {}
    for var, value in view.bindings:
        if op_name(value) not in where(kind=(CONVOLUTION, PRODUCT), is_own=False):
            continue
        producer = view.producer(value.args[1])
        int4 = None if producer is None else _int4_weight_of(producer, product=op_name(value) == "matmul")
        if int4 is not None:
            weights[var.name] = int4
    return weights


def _int4_weight_of(call: relax.Call, *, product: bool) -> Int4Weights | None:
    """The weight that a dequantize gives; None for other calls, other types, and scales along another axis."""
    name = op_name(call)
    if name not in ("tvmq.dequantize", "tvmq.group_dequantize") or not all(map(is_const, call.args)):
        return None
    codes, scale = const_value(call.args[0]), const_value(call.args[1])
    if codes.dtype != np.int8 or not numerics.fits_int4(codes) or (product and rank_of(call) != 2):
        return None
    depth = codes.shape[0] if product else codes[0].size
    if name == "tvmq.group_dequantize":
        return Int4Weights(_filters_first(codes), scale, int(call.attrs.group_size)) if product else None
    axis, filters = int(call.attrs.axis), codes.shape[1 if product else 0]
    if const_value(call.args[2]).any() or axis not in (-1, 1 if product else 0):
        return None
    scales = np.ascontiguousarray(np.broadcast_to(scale.reshape(1, -1), (1, filters)))
    return Int4Weights(_filters_first(codes) if product else _picture(codes), scales, depth)


def _filters_first(matrix: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(matrix.T).reshape(*matrix.shape[::-1], 1, 1)


def _picture(kernel: np.ndarray) -> np.ndarray:
    """A kernel of any number of axes as one of pictures."""
    *rows, columns = kernel.shape[2:]
    return kernel.reshape(*kernel.shape[:2], int(np.prod(rows)), columns)


def float_weights(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with every dequantize of constants as a float constant; the module itself if it has none."""
    if not any(_is_weight(value) for _, value in View(mod).bindings):
        return mod
    return rewrite(mod, _visit)


def _is_weight(value: relax.Expr) -> bool:
    return op_name(value) in ("tvmq.dequantize", "tvmq.group_dequantize") and all(is_const(arg) for arg in value.args)


def _visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    if not _is_weight(value):
        return None
    axis = int(value.attrs.axis)
    if op_name(value) == "tvmq.group_dequantize":
        codes, scale = (const_value(arg) for arg in value.args)
        size = int(value.attrs.group_size)
        return make_const(numerics.group_dequantize(codes, scale, axis=axis, group_size=size))
    codes, scale, zero_point = (const_value(arg) for arg in value.args)
    return make_const(numerics.dequantize(codes, scale, zero_point, axis=axis if axis >= 0 else None))
