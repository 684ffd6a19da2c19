"""Operators of one tensor, value by value: tables, slopes below zero, factors along axes, the fence.

Tests: tests/passes/test_broadcast_constants.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax, te, tirx

from tvmq import numerics
from tvmq.graph.operators import loops
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.loops import as_codes, broadcast_all, infer_broadcast, infer_same, tensor_like
from tvmq.graph.operators.record import FUNCTION


def _infer_table(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], str(call.args[1].ty.dtype))


def _look_up(q: np.ndarray, values: np.ndarray, *, function: str) -> np.ndarray:
    return numerics.table(q, values)


@declare(FUNCTION, _look_up, infer=_infer_table, batch="same rank", integer=True)
def table(q: te.Tensor, values: te.Tensor, *, function: str = "") -> te.Tensor:
    """256-entry lookup, numerics.table; uint8 codes index directly, int8 codes by q + 128.

    values    256 entries of the result's type
    function  display name of the function that the table computes; it has no effect
    """
    offset = 128 if str(q.dtype) == "int8" else 0
    return te.compute(q.shape, lambda *i: values(tirx.Cast("int32", q(*i)) + offset), name="table")


@declare(FUNCTION, numerics.prelu, infer=infer_broadcast(), label="prelu_codes", batch="constants along", integer=True)
def prelu(
    q: te.Tensor,
    slopes: te.Tensor,
    *,
    multiplier: int,
    shift: int,
    x_zero: int,
    zero_point: int,
    dtype: str = "uint8",
    qmin: int = 0,
    qmax: int = 255,
) -> te.Tensor:
    """Another factor below zero, one for each channel; numerics.prelu_params gives slopes, multiplier and shift.

    clip(((d * (multiplier if d > 0 else slopes) + half) >> shift) + zero_point, qmin, qmax)        broadcasting
    d = q - x_zero; half is 2^(shift-1), 0 for shift 0
    """

    def element(q: tirx.PrimExpr, slope: tirx.PrimExpr) -> tirx.PrimExpr:
        steps = tirx.Cast("int32", q) - x_zero
        factor = tirx.Select(steps > 0, tirx.const(multiplier, "int32"), slope)
        return as_codes(((steps * factor + 2**shift // 2) >> shift) + zero_point, dtype, qmin, qmax)

    return broadcast_all((q, slopes), element, "prelu")


@declare(FUNCTION, numerics.scale_shift, infer=infer_broadcast(), batch="constants along", integer=True)
def scale_shift(
    q: te.Tensor,
    multiplier: te.Tensor,
    offset: te.Tensor,
    *,
    shift: int,
    zero_point: int,
    dtype: str = "uint8",
    qmin: int = 0,
    qmax: int = 255,
) -> te.Tensor:
    """Constants that vary over a tensor; numerics.scale_shift_params gives multiplier, offset and shift.

    clip(((q * multiplier + offset) >> shift) + zero_point, qmin, qmax)        broadcasting
    """

    def element(q: tirx.PrimExpr, multiplier: tirx.PrimExpr, offset: tirx.PrimExpr) -> tirx.PrimExpr:
        return as_codes(((tirx.Cast("int32", q) * multiplier + offset) >> shift) + zero_point, dtype, qmin, qmax)

    return broadcast_all((q, multiplier, offset), element, "scale_shift")


@declare(FUNCTION, infer=infer_same, batch="same rank", integer=True, commutes_with_quantize=True)
def fence(x: te.Tensor) -> te.Tensor:
    """x, rounded to float32 here: no product before it is contracted with a sum behind it into an FMA.

    With a fence behind every float operator that ends in a product, a chain of operators gives the same bits fused or
    not.
    """
    return te.compute(x.shape, lambda *i: loops.fence(x(*i)), name="fence")
