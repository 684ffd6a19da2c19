"""Float sums of our operators' legalized forms, in the order of numerics.lane_sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm import te, tirx

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
        lanes = _halved(lanes, rest, width)
        width //= 2
    return te.compute(rest, lambda *i: lanes(*i, tirx.const(0, "int64")), name="total")


def _halved(lanes: te.Tensor, rest: list[tirx.PrimExpr], width: int) -> te.Tensor:
    return te.compute(
        [*rest, tirx.const(width, "int64")], lambda *i: lanes(*i) + lanes(*i[:-1], i[-1] + width), name=f"lanes{width}"
    )
