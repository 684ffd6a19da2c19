"""Sums and products of two activations in integers, and of a mask.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from tvm import te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.integer_norms import as_int64, i64
from tvmq.graph.operators.loops import as_codes, broadcast_all, infer_broadcast
from tvmq.graph.operators.record import ARITHMETIC, FUNCTION
from tvmq.numerics.add_mask import LARGEST_STEP, LARGEST_VALUE
from tvmq.numerics.codes import INT32_MAX


@declare(ARITHMETIC, numerics.add, infer=infer_broadcast(), label="add_codes", batch="same rank", integer=True)
def add(
    a: te.Tensor,
    b: te.Tensor,
    *,
    a_multiplier: int,
    b_multiplier: int,
    offset: int,
    shift: int,
    zero_point: int,
    dtype: str = "uint8",
    qmin: int = 0,
    qmax: int = 255,
) -> te.Tensor:
    """Sum of two activations in integers; numerics.add_params gives the multipliers, offset and shift.

    clip(((a * a_multiplier + b * b_multiplier + offset) >> shift) + zero_point, qmin, qmax)      broadcasting
    """

    def element(a: tirx.PrimExpr, b: tirx.PrimExpr) -> tirx.PrimExpr:
        total = tirx.Cast("int32", a) * a_multiplier + tirx.Cast("int32", b) * b_multiplier + offset
        return as_codes((total >> shift) + zero_point, dtype, qmin, qmax)

    return broadcast_all((a, b), element, "add")


@declare(
    ARITHMETIC,
    numerics.multiply,
    infer=infer_broadcast("int32"),
    label="multiply_codes",
    batch="same rank",
    integer=True,
)
def multiply(a: te.Tensor, b: te.Tensor, *, a_zero: int, b_zero: int) -> te.Tensor:
    """Exact int32 product of the centred codes; a requantize follows.

    int32(a - a_zero) * int32(b - b_zero)        broadcasting
    """

    def element(a: tirx.PrimExpr, b: tirx.PrimExpr) -> tirx.PrimExpr:
        return (tirx.Cast("int32", a) - a_zero) * (tirx.Cast("int32", b) - b_zero)

    return broadcast_all((a, b), element, "multiply")


@declare(FUNCTION, numerics.add_mask, infer=infer_broadcast("int32"), batch="same rank", integer=True)
def add_mask(x: te.Tensor, mask: te.Tensor, *, multiplier: int, offset: int) -> te.Tensor:
    """int32 scores plus an attention mask in their steps: those for a mask of 1, and for one of 0; broadcasting.

    clip(x + clip(clip(mask, -2^20, 2^20) * multiplier + offset, -2^30, 2^30), -(2^31 - 1), 2^31 - 1)
    """

    def element(x: tirx.PrimExpr, mask: tirx.PrimExpr) -> tirx.PrimExpr:
        steps = _clip(as_int64(mask), LARGEST_VALUE) * i64(multiplier) + i64(offset)
        return tirx.Cast("int32", _clip(as_int64(x) + _clip(steps, LARGEST_STEP), INT32_MAX))

    return broadcast_all((x, mask), element, "add_mask")


def _clip(value: tirx.PrimExpr, limit: int) -> tirx.PrimExpr:
    return tirx.min(tirx.max(value, i64(-limit)), i64(limit))
