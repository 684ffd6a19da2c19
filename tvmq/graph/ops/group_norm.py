"""R.tvmq.group_norm(x, gamma, beta): numerics.group_norm of [batch, channels, ...], equal on every CPU.

A row is all that the channels of a group hold; gamma and beta belong to channels. Instance norm: as many groups as
channels.
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.layer_norm import centred, inverse_deviation
from tvmq.graph.ops.registry import fence, register


@py_class("tvmq.attrs.GroupNorm", frozen=True)
class GroupNormAttrs(tvm.ir.Attrs):
    """groups of neighbouring channels; epsilon is added to the variance."""

    groups: int = 1
    epsilon: float = 1e-5


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    groups, epsilon = int(call.attrs.groups), float(call.attrs.epsilon)

    def compute(x: te.Tensor, gamma: te.Tensor, beta: te.Tensor) -> te.Tensor:
        batch, channels, *positions = list(x.shape)
        size = channels // groups
        rest, row = [batch, tirx.const(groups, "int64")], [size, *positions]

        def grouped(n: tirx.Var, group: tirx.Var, member: tirx.Var, *i: tirx.Var) -> tirx.PrimExpr:
            return x(n, group * size + member, *i)

        d = centred(te.compute([*rest, *row], grouped, name="grouped"), rest, row)
        r = inverse_deviation(d, rest, row, epsilon)

        def affine(n: tirx.Var, channel: tirx.Var, *i: tirx.Var) -> tirx.PrimExpr:
            group, member = tirx.floordiv(channel, size), tirx.floormod(channel, size)
            return fence(d(n, group, member, *i) * r(n, group) * gamma(channel)) + beta(channel)

        return te.compute(x.shape, affine, name="group_norm")

    return bb.call_te(compute, *call.args, primfunc_name_hint="group_norm")


group_norm = register("group_norm", ("x", "gamma", "beta"), GroupNormAttrs, _infer, _legalize)
