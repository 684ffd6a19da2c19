"""Sums, means, averages of pictures and resizes that stayed float become our own operators, the same on every CPU.

Before                                        After
    y = sum(x, axis=[1])                          y = tvmq.float_sum(x, axes=[1])
    y = mean(x, axis=[-1], keepdims=True)         y = tvmq.float_sum(x, axes=[2], keepdims=True, mean=True)
    y = nn.avg_pool2d(x) of one whole window      y = tvmq.float_sum(x, axes=[2, 3], keepdims=True, mean=True)
    y = image.resize2d(x, size, "linear")         y = tvmq.resample(...) of rows, then of columns: resampling.py

Needs     a module whose integers are realized: passes before that read `sum` and `mean`.
Leaves    other types as they are, and pools of several windows.
Numerics  float32 in another order: the last bits move.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import dtype_of, op_name, sizes_of
from tvmq.passes.families.avg_pool import LAYOUTS
from tvmq.passes.prepare.resampling import resample_operators


def define_floats(mod: tvm.IRModule) -> tvm.IRModule:
    """Replace sums, means, averages of pictures and resizes that stayed float by our own operators."""
    return rewrite(mod, _visit)


def _visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    resize = resample_operators(value)
    if resize is not None:
        return resize
    if is_whole_average(value):
        return ops.float_sum(value.args[0], axes=list(range(2, len(sizes_of(value)))), keepdims=True, mean=True)
    if op_name(value) not in ("sum", "mean") or dtype_of(value.args[0]) != "float32":
        return None
    if value.args[0].ty.shape is None:
        return None
    rank = len(list(value.args[0].ty.shape))
    axes = range(rank) if value.attrs.axis is None else sorted({int(axis) % rank for axis in value.attrs.axis})
    options = {"keepdims": bool(value.attrs.keepdims), "mean": op_name(value) == "mean"}
    return ops.float_sum(value.args[0], axes=list(axes), **options) if list(axes) else None


def is_whole_average(value: relax.Expr) -> bool:
    """True for an average pool of float32 whose only window is the picture, nothing around it."""
    name = op_name(value)
    if not name.startswith(("nn.avg_pool", "nn.adaptive_avg_pool")) or dtype_of(value) != "float32":
        return False
    if value.args[0].ty.shape is None or value.ty.shape is None:
        return False
    attrs, shape = value.attrs, sizes_of(value.args[0])
    if str(attrs.layout) not in LAYOUTS or any(size != 1 for size in sizes_of(value)[2:]):
        return False
    if name.startswith("nn.adaptive"):
        return True
    kernel = [int(side) for side in attrs.pool_size]
    return kernel == list(shape[2:]) and not any(int(side) for side in attrs.padding)
