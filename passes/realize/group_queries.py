"""Heads of queries that share keys or values are rows of one product: nothing is repeated.

Before                                                        After
    r = reshape(broadcast_to(expand_dims(k)))   (n, g h, t, d)    q' = reshape(q)                 (n, g, h s, d)
    m = matmul(q, permute_dims(r))              (n, g h, s, t)    m' = matmul(q', permute_dims(k)) (n, g, h s, t)
                                                                  m = reshape(m')                 (n, g h, s, t)

Exporters of decoders with grouped queries write each head of keys and values as often as queries read it; here that
many times as many codes would be made in every run.

Needs     a prepared module, whose products get scales at run time.
Leaves    products of repeated constants, and what is repeated along other axes.
Numerics  each row of a product has its own scale, and so has each key: the same bits.

Tests: tests/passes/test_cases.py
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tvm
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.sizes import are_equal, is_number
from tvmq.graph.view import dtype_of, is_const, op_name, rank_of


class _RepeatedHeads(NamedTuple):
    """Heads of keys or values behind their repetition.

    x         (n, g, t, d)
    groups    g
    is_turned  (n, g, d, t) is read
    """

    x: relax.Expr
    groups: int
    is_turned: bool


def group_queries(mod: tvm.IRModule) -> tvm.IRModule:
    """Make products with repeated heads products of grouped queries; see the head of this file."""
    rewriter = Rewriter(mod)
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        value = rewriter.substitute(value)
        grouped = _group(rewriter, var, value) if op_name(value) == "matmul" else None
        rewriter.bind(var, rewriter.emit(value if grouped is None else grouped, var.name))
    return rewriter.finish()


def _group(rewriter: Rewriter, var: relax.Var, value: relax.Call) -> relax.Expr | None:
    """The product of matrices that are not repeated, in the shape of the old one; None for any other product."""
    left, right = value.args
    if is_const(left) or is_const(right) or dtype_of(value) != "float32" or rank_of(left) != 4 or rank_of(right) != 4:
        return None
    repeated = _match_repetition(rewriter, right)
    if repeated is None:
        return None
    samples, heads, rows, depth = left.ty.shape
    if not is_number(heads) or int(heads) % repeated.groups:
        return None
    grouped = [samples, repeated.groups, int(heads) // repeated.groups * rows, depth]
    x = rewriter.emit(relax.op.reshape(left, relax.ShapeExpr(grouped)), f"{var.name}_grouped")
    turned = relax.op.permute_dims(repeated.x, [0, 1, 3, 2]) if repeated.is_turned else repeated.x
    y = repeated.x if turned.same_as(repeated.x) else rewriter.emit(turned, f"{var.name}_turned")
    inner = rewriter.emit(relax.op.matmul(x, y), f"{var.name}_product")
    return relax.op.reshape(inner, relax.ShapeExpr(list(value.ty.shape)))


def _match_repetition(rewriter: Rewriter, expr: relax.Expr) -> _RepeatedHeads | None:
    value: Any = rewriter.value_of(expr)
    is_turned = op_name(value) == "permute_dims" and [int(axis) for axis in value.attrs.axes or ()] == [0, 1, 3, 2]
    if is_turned:
        value = rewriter.value_of(value.args[0])
    if op_name(value) != "reshape":
        return None
    joined = list(value.ty.shape)
    wide: Any = rewriter.value_of(value.args[0])
    if op_name(wide) != "broadcast_to" or rank_of(wide) != 5:
        return None
    narrow, sizes = wide.args[0], list(wide.ty.shape)
    source = rewriter.value_of(narrow)
    if source is None or op_name(source) not in where(form=RESHAPE) or rank_of(narrow) != 5:
        return None
    x, one = source.args[0], list(narrow.ty.shape)
    if rank_of(x) != 4 or not is_number(sizes[1]) or not is_number(sizes[2]) or not are_equal(one[2], 1):
        return None
    samples, groups, _, length, depth = sizes
    same = [(a, b) for place, (a, b) in enumerate(zip(one, sizes, strict=True)) if place != 2]
    same += zip(x.ty.shape, (samples, groups, length, depth), strict=True)
    same += zip(joined, (samples, int(groups) * int(sizes[2]), length, depth), strict=True)
    return _RepeatedHeads(x, int(groups), is_turned) if all(are_equal(a, b) for a, b in same) else None
