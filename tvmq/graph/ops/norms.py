"""Layer norm, rms norm and group norm in our own float definition.

R.tvmq.layer_norm(x, gamma, beta): numerics.layer_norm over the last `axes` axes, equal on every CPU.

d = x - mean(x); r = 1 / sqrt(mean(d * d) + epsilon); d * r * gamma + beta
means from sums in 16 strided lanes; every product and sum is rounded to float32 by itself

R.tvmq.rms_norm(x, gamma): numerics.rms_norm over the last `axes` axes, equal on every CPU.

r = 1 / sqrt(mean(x * x) + epsilon); x * r * gamma; every product and sum is rounded to float32 by itself

R.tvmq.group_norm(x, gamma, beta): numerics.group_norm of [batch, channels, ...], equal on every CPU.

A row is all that the channels of a group hold; gamma and beta belong to channels. Instance norm: as many groups as
channels.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.float_sums import as_float, f32, lane_sum, product, unravel_index
from tvmq.graph.ops.registry import fence, register


@py_class("tvmq.attrs.LayerNorm", frozen=True)
class LayerNormAttrs(tvm.ir.Attrs):
    """axes: how many of the last axes make a row; epsilon is added to the variance."""

    axes: int = 1
    epsilon: float = 1e-5


def _infer_layer_norm(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize_layer_norm(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axes, epsilon = int(call.attrs.axes), float(call.attrs.epsilon)

    def compute(x: te.Tensor, gamma: te.Tensor, beta: te.Tensor) -> te.Tensor:
        rest, row = list(x.shape)[: len(x.shape) - axes], list(x.shape)[len(x.shape) - axes :]
        d = center_rows(x, rest, row)
        r = inverse_deviation(d, rest, row, epsilon)

        def affine(*i: tirx.Var) -> tirx.PrimExpr:
            outer, inner = i[: len(rest)], i[len(rest) :]
            return fence(d(*i) * r(*outer) * gamma(*inner)) + beta(*inner)

        return te.compute(x.shape, affine, name="layer_norm")

    return bb.call_te(compute, *call.args, primfunc_name_hint="layer_norm")


def center_rows(x: te.Tensor, rest: list[tirx.PrimExpr], row: list[tirx.PrimExpr]) -> te.Tensor:
    """x - mean over its last axes `row`, behind the axes `rest`."""
    count = product(row)
    total = lane_sum(rest, count, lambda i, position: x(*i, *unravel_index(position, row)))
    mean = te.compute(rest, lambda *i: total(*i) / as_float(count), name="mean")
    return te.compute(x.shape, lambda *i: x(*i) - mean(*i[: len(rest)]), name="centred")


def inverse_deviation(d: te.Tensor, rest: list[tirx.PrimExpr], row: list[tirx.PrimExpr], epsilon: float) -> te.Tensor:
    """1 / sqrt(mean of squares + epsilon) over the last axes."""
    count = product(row)

    def square(i: tuple[tirx.Var, ...], position: tirx.PrimExpr) -> tirx.PrimExpr:
        value = d(*i, *unravel_index(position, row))
        return fence(value * value)

    total = lane_sum(rest, count, square)
    return te.compute(
        rest, lambda *i: f32(1.0) / tirx.sqrt(total(*i) / as_float(count) + f32(epsilon)), name="inverse_deviation"
    )


layer_norm = register("layer_norm", ("x", "gamma", "beta"), LayerNormAttrs, _infer_layer_norm, _legalize_layer_norm)


@py_class("tvmq.attrs.RmsNorm", frozen=True)
class RmsNormAttrs(tvm.ir.Attrs):
    """axes: how many of the last axes make a row; epsilon is added to the mean square."""

    axes: int = 1
    epsilon: float = 1e-5


def _infer_rms_norm(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize_rms_norm(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    axes, epsilon = int(call.attrs.axes), float(call.attrs.epsilon)

    def compute(x: te.Tensor, gamma: te.Tensor) -> te.Tensor:
        rest, row = list(x.shape)[: len(x.shape) - axes], list(x.shape)[len(x.shape) - axes :]
        r = inverse_deviation(x, rest, row, epsilon)

        def normalize(*i: tirx.Var) -> tirx.PrimExpr:
            return fence(x(*i) * r(*i[: len(rest)]) * gamma(*i[len(rest) :]))

        return te.compute(x.shape, normalize, name="rms_norm")

    return bb.call_te(compute, *call.args, primfunc_name_hint="rms_norm")


rms_norm = register("rms_norm", ("x", "gamma"), RmsNormAttrs, _infer_rms_norm, _legalize_rms_norm)


@py_class("tvmq.attrs.GroupNorm", frozen=True)
class GroupNormAttrs(tvm.ir.Attrs):
    """groups of neighbouring channels; epsilon is added to the variance."""

    groups: int = 1
    epsilon: float = 1e-5


def _infer_group_norm(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[0].ty


def _legalize_group_norm(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    groups, epsilon = int(call.attrs.groups), float(call.attrs.epsilon)

    def compute(x: te.Tensor, gamma: te.Tensor, beta: te.Tensor) -> te.Tensor:
        batch, channels, *positions = list(x.shape)
        size = channels // groups
        rest, row = [batch, tirx.const(groups, "int64")], [size, *positions]

        def split_channels(n: tirx.Var, group: tirx.Var, member: tirx.Var, *i: tirx.Var) -> tirx.PrimExpr:
            return x(n, group * size + member, *i)

        d = center_rows(te.compute([*rest, *row], split_channels, name="grouped"), rest, row)
        r = inverse_deviation(d, rest, row, epsilon)

        def affine(n: tirx.Var, channel: tirx.Var, *i: tirx.Var) -> tirx.PrimExpr:
            group, member = tirx.floordiv(channel, size), tirx.floormod(channel, size)
            return fence(d(n, group, member, *i) * r(n, group) * gamma(channel)) + beta(channel)

        return te.compute(x.shape, affine, name="group_norm")

    return bb.call_te(compute, *call.args, primfunc_name_hint="group_norm")


group_norm = register("group_norm", ("x", "gamma", "beta"), GroupNormAttrs, _infer_group_norm, _legalize_group_norm)
