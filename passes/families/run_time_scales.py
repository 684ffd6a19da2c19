"""Layers whose scales are made at run time: which there are, and what shares one scale.

`shared_axes` alone decides the granularity: one scale for each row (token) of the left operand of a product, each
column of the right one, each sample of a convolution. A recurrent layer has one for each sample and step: of its state,
within its operator.

A scale over several tokens would make what a token gives depend on the others, padding among them. Where the sums of a
product of two activations run over tokens (`sums_over_tokens`), its right operand has a scale for each row instead.

Before                                            After
    m = matmul(x, w)                                  a form of passes/realize/run_time_forms.py

Tests: tests/passes/test_quantize_dynamic.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT, RESHAPE, SOFTMAX, TRANSPOSED
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, rank_of, sizes_of

# What gets scales at run time
WEIGHTED = where(kind=(CONVOLUTION, TRANSPOSED, PRODUCT), is_own=False)
SOFTMAXES, IN_ROWS = where(kind=SOFTMAX), where(form=RESHAPE) | where(elementwise=True) | {"tvmq.simulated_quantize"}
LOOP = "tvmq.recurrent"
LARGEST_CODE = 127


def shared_axes(call: relax.Call, position: int) -> tuple[int, int]:
    """Axes of an operand of a layer over which one scale is shared: the first, and how many follow each other."""
    rank = rank_of(call.args[position])
    return (rank - 1 - position, 1) if op_name(call) == "matmul" else (1, rank - 1)


def sums_over_tokens(view: View, call: relax.Call) -> bool:
    """True for a product of two activations whose sums run over tokens: weights of a softmax, or a dynamic length."""
    if op_name(call) != "matmul" or any(is_const(arg) for arg in call.args):
        return False
    return isinstance(sizes_of(call.args[0])[-1], str) or _has_softmax_rows(view, call.args[0])


def _has_softmax_rows(view: View, x: relax.Expr) -> bool:
    """True for results of a softmax along the last axis, also behind what leaves each value in its row."""
    value = view.value.get(x.name) if isinstance(x, relax.Var) else None
    if not isinstance(value, relax.Call):
        return False
    if op_name(value) in SOFTMAXES:
        return int(value.attrs.axis) in (-1, rank_of(value) - 1)
    if op_name(value) not in IN_ROWS:
        return False
    length = sizes_of(x)[-1:]
    operands = [arg for arg in value.args if isinstance(arg, relax.Var) and sizes_of(arg)[-1:] == length]
    return any(_has_softmax_rows(view, operand) for operand in operands)


def why_float(value: relax.Expr, activations: str | None) -> str | None:
    """Why an operator stays as it is with activations "dynamic" or None; None if it has a form."""
    name = op_name(value)
    if name == "take" and is_const(value.args[0]) and len(value.args[0].ty.shape) == 2:
        if not np.isfinite(const_value(value.args[0])).all():
            return "limit: a table of numbers that are not finite"
        plain = int(value.attrs.axis or 0) == 0 and dtype_of(value.args[0]) == "float32"
        return None if plain else "limit: only rows of a float32 table are looked up as codes"
    if name == LOOP:
        return None
    if name not in WEIGHTED:
        return f"option activations={activations!r}: only layers with weights are quantized"
    data, weight = value.args
    if any(dtype_of(arg) != "float32" for arg in (data, weight)):
        return "limit: the operands are not float32"
    if is_const(weight):
        return None if name != "matmul" or len(weight.ty.shape) >= 2 else "limit: the weight is a vector"
    if name != "matmul" or activations != "dynamic" or is_const(data):
        return "limit: the weight is computed in the graph, not constant"
    return None if min(len(data.ty.shape), len(weight.ty.shape)) >= 2 else "limit: a product with a vector"
