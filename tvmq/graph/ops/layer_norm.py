"""R.tvmq.layer_norm(x, gamma, beta): numerics.layer_norm over the last `axes` axes, equal on every CPU.

d = x - mean(x); r = 1 / sqrt(mean(d * d) + epsilon); d * r * gamma + beta
means from sums in 16 strided lanes; every product and sum is rounded to float32 by itself
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.lane_sum import f32, lane_sum
from tvmq.graph.ops.registry import fence, register


@py_class("tvmq.attrs.LayerNorm", frozen=True)
class LayerNormAttrs(tvm.ir.Attrs):
    """axes: how many of the last axes make a row; epsilon is added to the variance."""

    axes: int = 1
    epsilon: float = 1e-5


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axes, epsilon = int(call.attrs.axes), float(call.attrs.epsilon)

    def compute(x: te.Tensor, gamma: te.Tensor, beta: te.Tensor) -> te.Tensor:
        rest, row = list(x.shape)[: len(x.shape) - axes], list(x.shape)[len(x.shape) - axes :]
        d = centred(x, rest, row)
        r = inverse_deviation(d, rest, row, epsilon)

        def affine(*i: tirx.Var) -> tirx.PrimExpr:
            outer, inner = i[: len(rest)], i[len(rest) :]
            return fence(d(*i) * r(*outer) * gamma(*inner)) + beta(*inner)

        return te.compute(x.shape, affine, name="layer_norm")

    return bb.call_te(compute, *call.args, primfunc_name_hint="layer_norm")


def centred(x: te.Tensor, rest: list[tirx.PrimExpr], row: list[tirx.PrimExpr]) -> te.Tensor:
    """x - mean over its last axes `row`, behind the axes `rest`."""
    count = product(row)
    total = lane_sum(rest, count, lambda i, position: x(*i, *unravelled(position, row)))
    mean = te.compute(rest, lambda *i: total(*i) / as_float(count), name="mean")
    return te.compute(x.shape, lambda *i: x(*i) - mean(*i[: len(rest)]), name="centred")


def inverse_deviation(d: te.Tensor, rest: list[tirx.PrimExpr], row: list[tirx.PrimExpr], epsilon: float) -> te.Tensor:
    """1 / sqrt(mean of squares + epsilon) over the last axes."""
    count = product(row)

    def square(i: tuple[tirx.Var, ...], position: tirx.PrimExpr) -> tirx.PrimExpr:
        value = d(*i, *unravelled(position, row))
        return fence(value * value)

    total = lane_sum(rest, count, square)
    return te.compute(
        rest, lambda *i: f32(1.0) / tirx.sqrt(total(*i) / as_float(count) + f32(epsilon)), name="inverse_deviation"
    )


def product(sizes: list[tirx.PrimExpr]) -> tirx.PrimExpr:
    """How many elements an array of these sizes has."""
    count = tirx.const(1, "int64")
    for size in sizes:
        count = count * size
    return count


def as_float(count: tirx.PrimExpr) -> tirx.PrimExpr:
    """A size as float32."""
    return f32(int(count)) if isinstance(count, tirx.IntImm) else tirx.Cast("float32", count)


def unravelled(position: tirx.PrimExpr, sizes: list[tirx.PrimExpr]) -> list[tirx.PrimExpr]:
    """Index of an element that stands at `position` in memory."""
    index: list[tirx.PrimExpr] = []
    for size in reversed(sizes[1:]):
        index.append(tirx.floormod(position, size))
        position = tirx.floordiv(position, size)
    return [position, *reversed(index)]


layer_norm = register("layer_norm", ("x", "gamma", "beta"), LayerNormAttrs, _infer, _legalize)
