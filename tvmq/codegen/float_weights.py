"""Weights that a module keeps as codes and computes with as floats: dequantized when it is compiled.

A module with quantized weights alone is small; its executable holds the floats, so that the kernels of float models
serve it and nothing is dequantized at run time.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq import numerics
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.unpacked import unpacked
from tvmq.graph.view import View, const_value, is_const, make_const, op_name


def float_weights(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with every tvmq.unpack and tvmq.dequantize of constants as a constant; the module itself if it has "
    "none."""
    mod = unpacked(mod)
    if not any(_is_weight(value) for _, value in View(mod).bindings):
        return mod
    return rewrite(mod, _visit)


def _is_weight(value: relax.Expr) -> bool:
    return op_name(value) == "tvmq.dequantize" and all(is_const(arg) for arg in value.args)


def _visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    if not _is_weight(value):
        return None
    axis = int(value.attrs.axis)
    codes, scale, zero_point = (const_value(arg) for arg in value.args)
    return make_const(numerics.dequantize(codes, scale, zero_point, axis=axis if axis >= 0 else None))
