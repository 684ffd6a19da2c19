"""Sums, means and resizes that stayed float become operators of our own, whose results are the same on every CPU.

Before                                        After
    y = sum(x, axis=[1])                          y = tvmq.float_sum(x, axes=[1])
    y = mean(x, axis=[-1], keepdims=True)         y = tvmq.float_sum(x, axes=[2], keepdims=True, mean=True)
    y = image.resize2d(x, size, "linear")         y = tvmq.resample(...) of rows, then of columns: resampling.py

Needs     a module whose integers are realized: passes before that read `sum` and `mean`.
Leaves    other types as they are.
Numerics  float32 in another order: the last bits move.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import dtype_of, op_name
from tvmq.passes.prepare.resampling import resample_operators


def define_floats(mod: tvm.IRModule) -> tvm.IRModule:
    """See the head of this file."""
    return rewrite(mod, _visit)


def _visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    resize = resample_operators(value)
    if resize is not None:
        return resize
    if op_name(value) not in ("sum", "mean") or dtype_of(value.args[0]) != "float32":
        return None
    if value.args[0].ty.shape is None:
        return None
    rank = len(list(value.args[0].ty.shape))
    axes = range(rank) if value.attrs.axis is None else sorted({int(axis) % rank for axis in value.attrs.axis})
    options = {"keepdims": bool(value.attrs.keepdims), "mean": op_name(value) == "mean"}
    return ops.float_sum(value.args[0], axes=list(axes), **options) if list(axes) else None
