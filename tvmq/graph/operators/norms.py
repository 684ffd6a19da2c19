"""Layer norm, rms norm and group norm in our own float definition, equal on every CPU.

Means are from sums in 16 strided lanes; every product and sum is rounded to float32 by itself. epsilon is added to the
variance, or to the mean square.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from functools import partial

from tvm import te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.float_sums import as_float, f32, lane_sum, product, unravel_index
from tvmq.graph.operators.loops import fence, infer_same
from tvmq.graph.operators.record import NORMALIZATION

_declare = partial(declare, NORMALIZATION, infer=infer_same, batch="normalizes")


@_declare(numerics.layer_norm)
def layer_norm(x: te.Tensor, gamma: te.Tensor, beta: te.Tensor, *, axes: int = 1, epsilon: float = 1e-5) -> te.Tensor:
    """d = x - mean(x); r = 1 / sqrt(mean(d * d) + epsilon); d * r * gamma + beta; the last `axes` axes make a row."""
    rest, row = list(x.shape)[: len(x.shape) - axes], list(x.shape)[len(x.shape) - axes :]
    d = center_rows(x, rest, row)
    r = inverse_deviation(d, rest, row, epsilon)

    def affine(*i: tirx.Var) -> tirx.PrimExpr:
        outer, inner = i[: len(rest)], i[len(rest) :]
        return fence(d(*i) * r(*outer) * gamma(*inner)) + beta(*inner)

    return te.compute(x.shape, affine, name="layer_norm")


@_declare(numerics.rms_norm)
def rms_norm(x: te.Tensor, gamma: te.Tensor, *, axes: int = 1, epsilon: float = 1e-5) -> te.Tensor:
    """r = 1 / sqrt(mean(x * x) + epsilon); x * r * gamma; the last `axes` axes make a row."""
    rest, row = list(x.shape)[: len(x.shape) - axes], list(x.shape)[len(x.shape) - axes :]
    r = inverse_deviation(x, rest, row, epsilon)

    def normalize(*i: tirx.Var) -> tirx.PrimExpr:
        return fence(x(*i) * r(*i[: len(rest)]) * gamma(*i[len(rest) :]))

    return te.compute(x.shape, normalize, name="rms_norm")


@_declare(numerics.group_norm)
def group_norm(x: te.Tensor, gamma: te.Tensor, beta: te.Tensor, *, groups: int = 1, epsilon: float = 1e-5) -> te.Tensor:
    """Layer norm of [batch, channels, ...] whose rows are all that the channels of a group hold.

    gamma and beta belong to channels; groups are of neighbours. Instance norm: as many groups as channels.
    """
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
