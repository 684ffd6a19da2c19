"""Leaky relu and prelu, right for the sign of zero: TVM folds x * 0 to 0, and prelu multiplies zeros by the slope."""

from __future__ import annotations

from typing import Any

from tvm import relax, te, tirx
from tvm.tirx import const

from tvmq.graph.ops.registry import fence


def leaky(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.nn.leakyrelu: x where x >= 0, else x * alpha; a slope of 0 gives -0 and keeps NaN."""
    return builder.call_te(_leaky, call.args[0], float(call.attrs.alpha), primfunc_name_hint="leaky_relu")


def _leaky(x: te.Tensor, alpha: float) -> te.Tensor:
    slope = const(alpha, x.dtype)
    # behind a fence the simplifier does not know that it is zero
    slope = fence(slope) if alpha == 0 else slope

    def value(*indices: Any) -> Any:
        item = x(*indices)
        return tirx.Select(item >= const(0, x.dtype), item, item * slope)

    return te.compute(x.shape, value, name="leaky_relu")


def prelu(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.nn.prelu: x where x >= 0, else x * slope of its channel, or x * the only slope."""
    return builder.call_te(_prelu, *call.args, int(call.attrs.axis), primfunc_name_hint="prelu")


def _prelu(x: te.Tensor, slopes: te.Tensor, axis: int) -> te.Tensor:
    channel, is_one = axis % len(x.shape), slopes.shape[0] == 1

    def value(*indices: Any) -> Any:
        item = x(*indices)
        return tirx.Select(item >= const(0, x.dtype), item, item * slopes(0 if is_one else indices[channel]))

    return te.compute(x.shape, value, name="prelu")
