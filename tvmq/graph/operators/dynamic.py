"""Scales made at run time, numerics.dynamic.

scale = dynamic_scale(x, axes)              max|x| / largest_code over `axes`, which stay with extent 1
q     = dynamic_quantize(x, scale)          int8
y     = dynamic_dequantize(acc, s_x, s_w)   float32(acc) * (s_x * s_w)

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax, te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.loops import broadcast_all, fence, infer_broadcast, known_shape
from tvmq.graph.operators.record import CONVERSION, REDUCTION

LARGEST = float(np.finfo(np.float32).max)
NORMAL = float(np.finfo(np.float32).smallest_normal)


def _define_scale(x: np.ndarray, *, first: int, count: int, largest_code: int) -> np.ndarray:
    return numerics.dynamic_scale(x, axes=range(first, first + count), largest_code=largest_code)


def _infer_scale(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    reduced = range(call.attrs.first, call.attrs.first + call.attrs.count)
    shape = [tirx.const(1, "int64") if i in reduced else dim for i, dim in enumerate(known_shape(call))]
    return relax.TensorType(shape, "float32")


@declare(REDUCTION, _define_scale, infer=_infer_scale, batch="scales", integer=True)
def dynamic_scale(
    x: te.Tensor, *, first: int, count: int, largest_code: int = 127, result: relax.TensorType
) -> te.Tensor:
    """Scale of a tensor, or of each part of it: the largest absolute value is the largest code.

    first, count  first of the reduced axes, and how many follow each other
    """
    axes = {i: te.reduce_axis((0, x.shape[i]), name=f"r{i}") for i in range(first, first + count)}
    # the order of the operands of min and max leaves NaN out
    seen = te.comm_reducer(lambda a, b: tirx.max(b, a), lambda dtype: tirx.const(0, dtype), name="largest")

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        value = x(*(axes.get(k, at) for k, at in enumerate(i)))
        return seen(tirx.min(tirx.const(LARGEST, "float32"), tirx.abs(value)), axis=list(axes.values()))

    largest = te.compute(list(result.shape), element, name="largest")

    def scale(*i: tirx.Var) -> tirx.PrimExpr:
        step = largest(*i) / tirx.const(float(largest_code), "float32")
        return tirx.Select(step >= tirx.const(NORMAL, "float32"), step, tirx.const(1.0, "float32"))

    return te.compute(list(result.shape), scale, name="dynamic_scale")


@declare(CONVERSION, numerics.dynamic_quantize, infer=infer_broadcast("int8"), batch="same rank", integer=True)
def dynamic_quantize(x: te.Tensor, scale: te.Tensor, *, largest_code: int = 127) -> te.Tensor:
    """Codes of a scale that broadcasts; the lowest code is the negative of the largest."""
    low, high = (tirx.const(float(sign * largest_code), "float32") for sign in (-1, 1))

    def element(x: tirx.PrimExpr, scale: tirx.PrimExpr) -> tirx.PrimExpr:
        # clipped before rounding, which gives the same; the order of the operands makes NaN the lowest code
        steps = tirx.nearbyint(tirx.min(tirx.max(x / scale, low), high))
        return tirx.Cast("int8", tirx.Cast("int32", steps))

    return broadcast_all((x, scale), element, "dynamic_quantize")


@declare(
    CONVERSION, numerics.dynamic_dequantize, infer=infer_broadcast("float32"), batch="same rank", integer=True
)
def dynamic_dequantize(acc: te.Tensor, x_scale: te.Tensor, w_scale: te.Tensor) -> te.Tensor:
    """Floats of accumulators; both scales are float32 and broadcast."""

    def element(acc: tirx.PrimExpr, x_scale: tirx.PrimExpr, w_scale: tirx.PrimExpr) -> tirx.PrimExpr:
        return fence(tirx.Cast("float32", acc) * (x_scale * w_scale))

    return broadcast_all((acc, x_scale, w_scale), element, "dynamic_dequantize")
