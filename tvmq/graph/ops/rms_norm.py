"""R.tvmq.rms_norm(x, gamma): numerics.rms_norm over the last `axes` axes, equal on every CPU.

r = 1 / sqrt(mean(x * x) + epsilon); x * r * gamma; every product and sum is rounded to float32 by itself
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.layer_norm import inverse_deviation
from tvmq.graph.ops.registry import fence, register


@py_class("tvmq.attrs.RmsNorm", frozen=True)
class RmsNormAttrs(tvm.ir.Attrs):
    """axes: how many of the last axes make a row; epsilon is added to the mean square."""

    axes: int = 1
    epsilon: float = 1e-5


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axes, epsilon = int(call.attrs.axes), float(call.attrs.epsilon)

    def compute(x: te.Tensor, gamma: te.Tensor) -> te.Tensor:
        rest, row = list(x.shape)[: len(x.shape) - axes], list(x.shape)[len(x.shape) - axes :]
        r = inverse_deviation(x, rest, row, epsilon)

        def scaled(*i: tirx.Var) -> tirx.PrimExpr:
            return fence(x(*i) * r(*i[: len(rest)]) * gamma(*i[len(rest) :]))

        return te.compute(x.shape, scaled, name="rms_norm")

    return bb.call_te(compute, *call.args, primfunc_name_hint="rms_norm")


rms_norm = register("rms_norm", ("x", "gamma"), RmsNormAttrs, _infer, _legalize)
