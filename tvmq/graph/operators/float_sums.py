"""Float sums in one order of adding, the same on every CPU.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm import relax, te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.loops import known_shape
from tvmq.graph.operators.record import REDUCTION
from tvmq.numerics.float_sum import LANES


def f32(value: float | np.floating) -> tirx.PrimExpr:
    """A float32 constant."""
    return tirx.const(float(value), "float32")


def lane_sum(
    rest: list[tirx.PrimExpr],
    length: tirx.PrimExpr,
    value: Callable[[tuple[tirx.Var, ...], tirx.PrimExpr], tirx.PrimExpr],
) -> te.Tensor:
    """Sum of value(i, 0), ..., value(i, length - 1) for each i of shape `rest`, as numerics.lane_sum orders it."""
    steps = te.reduce_axis((0, (length + LANES - 1) // LANES), name="step")

    def lane(*i: tirx.Var) -> tirx.PrimExpr:
        position = steps * LANES + i[-1]
        return te.sum(tirx.if_then_else(position < length, value(i[:-1], position), f32(0.0)), axis=steps)

    # sizes are int64, and TVM mixes widths in no block that is read twice
    lanes = te.compute([*rest, tirx.const(LANES, "int64")], lane, name="lanes")
    width = LANES // 2
    while width:
        lanes = _add_halves(lanes, rest, width)
        width //= 2
    return te.compute(rest, lambda *i: lanes(*i, tirx.const(0, "int64")), name="total")


def _add_halves(lanes: te.Tensor, rest: list[tirx.PrimExpr], width: int) -> te.Tensor:
    return te.compute(
        [*rest, tirx.const(width, "int64")], lambda *i: lanes(*i) + lanes(*i[:-1], i[-1] + width), name=f"lanes{width}"
    )


def product(sizes: list[tirx.PrimExpr]) -> tirx.PrimExpr:
    """Number of elements of an array of these sizes."""
    count = tirx.const(1, "int64")
    for size in sizes:
        count = count * size
    return count


def as_float(count: tirx.PrimExpr) -> tirx.PrimExpr:
    """A size as float32."""
    return f32(int(count)) if isinstance(count, tirx.IntImm) else tirx.Cast("float32", count)


def unravel_index(position: tirx.PrimExpr, sizes: list[tirx.PrimExpr]) -> list[tirx.PrimExpr]:
    """Index of an element that stands at `position` in memory."""
    index: list[tirx.PrimExpr] = []
    for size in reversed(sizes[1:]):
        index.append(tirx.floormod(position, size))
        position = tirx.floordiv(position, size)
    return [position, *reversed(index)]


def _infer_float_sum(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    shape = known_shape(call)
    axes, keepdims = [int(axis) for axis in call.attrs.axes], bool(call.attrs.keepdims)
    one = tirx.const(1, "int64")
    sizes = [one if axis in axes else size for axis, size in enumerate(shape) if keepdims or axis not in axes]
    return relax.TensorType(sizes, "float32")


@declare(REDUCTION, numerics.float_sum, infer=_infer_float_sum, batch="reduces", integer=True)
def float_sum(
    x: te.Tensor, *, axes: list[int], keepdims: bool = False, mean: bool = False, result: relax.TensorType
) -> te.Tensor:
    """Sum or mean of float32 over axes, equal on every CPU.

    axes      ascending, none negative
    keepdims  leaves them with size 1
    mean      divides by the count
    """
    others = [axis for axis in range(len(x.shape)) if axis not in axes]
    row = [x.shape[axis] for axis in axes]
    count = product(row)

    def value(i: tuple[tirx.Var, ...], position: tirx.PrimExpr) -> tirx.PrimExpr:
        place = dict(zip([*others, *axes], [*i, *unravel_index(position, row)], strict=True))
        return x(*[place[axis] for axis in range(len(x.shape))])

    total = lane_sum([x.shape[axis] for axis in others], count, value)

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        value = total(*[i[axis] for axis in others] if keepdims else i)
        return value / as_float(count) if mean else value

    return te.compute(list(result.shape), element, name="float_sum")
