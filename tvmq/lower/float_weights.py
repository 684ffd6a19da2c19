"""Weights that a module keeps as codes and computes with as floats: dequantized when it is compiled.

So the kernels of float models serve a module with quantized weights alone. Those of 4 bits are read as codes all the
same where a kernel can (narrow_weights.py); all others stand in the executable as floats.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq import numerics
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, is_const, make_const, op_name


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
