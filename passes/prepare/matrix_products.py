"""Matrix products in one form: what prepare does with them.

Before                                            After
    y = matmul(c, x)                                  y = permute_dims(matmul(permute_dims(x), c transposed))
    q = multiply(x, 0.125)                            p = matmul(x, k)
    y = matmul(q, k)                                  y = multiply(p, 0.125)
    a = matmul(f, t)      (n, h, 1) by (n, 1, s)      a = multiply(f, t)

Sums of one product are products: angles of positions, which have no scale for codes. A layer of one input stays, and
so does a product of codes in a model that is quantized already.

A constant stands on the right, so that its output channels are the last axis; numbers multiplied into an operand
(the scale of attention) are multiplied to the result, where a scale of accumulators takes them for nothing.
"""

from __future__ import annotations

import math

import numpy as np
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE, SLICE, TRANSPOSE
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import const_value, dtype_of, is_const, make_const, op_name, rank_of, sizes_of

DEQUANTIZE = "tvmq.dequantize"
# what moves values without computing, so that a factor may move through it
MOVES = where(form=(RESHAPE, TRANSPOSE, SLICE))


def product(rewriter: Rewriter, var: relax.Var, value: relax.Call) -> relax.Expr:
    """Normal form of a product; `value` is a matmul of new variables, bound to `var` before."""
    a, b = value.args
    is_layer = is_const(b) or any(op_name(rewriter.value_of(arg)) == DEQUANTIZE for arg in (a, b))
    if not is_layer and min(rank_of(a), rank_of(b)) >= 2 and sizes_of(a)[-1] == 1:
        return relax.op.multiply(b, a) if is_const(a) else relax.op.multiply(a, b)
    if is_const(a) and not is_const(b):
        return _constant_right(rewriter, var, value)
    (a, a_factor), (b, b_factor) = _without_factor(rewriter, a), _without_factor(rewriter, b)
    factor = a_factor * b_factor
    if factor == 1.0 or not math.isfinite(factor):
        return value
    inner = rewriter.emit(relax.Call(value.op, [a, b], value.attrs, value.ty_args), f"{var.name}_product")
    return relax.op.multiply(inner, make_const(np.asarray(factor, dtype_of(inner))))


def _constant_right(rewriter: Rewriter, var: relax.Var, value: relax.Call) -> relax.Expr:
    """C x = (x' C')'; vectors stay as they are."""
    constant, x = value.args
    array = const_value(constant)
    if array.ndim < 2 or len(x.ty.shape) < 2:
        return value
    turned = rewriter.emit(_transpose(x), f"{var.name}_transpose")
    right = make_const(np.ascontiguousarray(np.swapaxes(array, -1, -2)))
    inner = rewriter.emit(relax.op.matmul(turned, right), f"{var.name}_product")
    return _transpose(inner)


def _transpose(x: relax.Expr) -> relax.Call:
    """The last two axes exchanged."""
    axes = list(range(len(x.ty.shape)))
    return relax.op.permute_dims(x, [*axes[:-2], axes[-1], axes[-2]])


def _without_factor(rewriter: Rewriter, x: relax.Expr) -> tuple[relax.Expr, float]:
    """An operand and the number that was multiplied into it; (x, 1.0) where others see the product."""
    links: list[relax.Var] = []  # from the operand backwards
    while (value := rewriter.value_of(x)) is not None and rewriter.read_once(x):
        if op_name(value) not in MOVES and not _is_scaled(value):
            break
        links.append(x)
        x = value.args[0]
    factor = 1.0
    for link in reversed(links):
        x, factor = _apply_link(rewriter, link, x, factor)
    return x, factor


def _apply_link(rewriter: Rewriter, link: relax.Var, inner: relax.Expr, factor: float) -> tuple[relax.Expr, float]:
    """The operand and its number behind one more operator."""
    value = rewriter.value_of(link)
    assert value is not None
    if op_name(value) in MOVES:
        if factor == 1.0:
            return link, 1.0
        moved = relax.Call(value.op, [inner, *value.args[1:]], value.attrs, value.ty_args)
        return rewriter.emit(moved, link.name), factor
    number = float(const_value(value.args[1]).reshape(()))
    if op_name(value) == "multiply":
        return inner, factor * number
    return (inner, factor / number) if number else (link, 1.0)


def _is_scaled(value: relax.Expr) -> bool:
    """True for the product or quotient of a tensor and a number."""
    is_linear = op_name(value) in ("multiply", "divide")
    return is_linear and _is_number(value.args[1]) and not is_const(value.args[0])


def _is_number(expr: relax.Expr) -> bool:
    """True for a constant of one element that adds no axes."""
    return is_const(expr) and const_value(expr).ndim == 0
