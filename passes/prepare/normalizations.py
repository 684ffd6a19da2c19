"""Softmax and the normalizations of Relax as operators of our own, whose results are the same on every CPU.

Before                                              After
    s = nn.softmax(x, axis=1)                           s = tvmq.softmax(x, axis=1)
    y = nn.layer_norm(x, gamma, beta, axes=[-1])        y = tvmq.layer_norm(x, gamma, beta, axes=1)
    y = nn.instance_norm(x, ...)                        y = tvmq.group_norm(x, gamma, beta, groups=channels)

Needs     float32 and a known rank.
Leaves    other types as they are; axes that do not stand last are moved there and back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import tvm
from tvm import relax, tirx

from tvmq.graph import ops
from tvmq.graph.patterns.rules import RewriteRule, RewriteRules
from tvmq.graph.rewrite import rewrite

FLOAT = "float32"


def replace_normalizations(mod: tvm.IRModule) -> tvm.IRModule:
    """Replace softmax and the normalizations of Relax by our own operators."""
    return rewrite(mod, NORMALIZATIONS.visit)


def _layer_norm(call: relax.Call) -> relax.Expr | None:
    row = _row(call)
    complete = call.attrs.scale and call.attrs.center
    if not complete and not all(isinstance(size, tirx.IntImm) for size in row.shape):
        return None
    gamma = call.args[1] if call.attrs.scale else _constant_of(row.shape, 1)
    beta = call.args[2] if call.attrs.center else _constant_of(row.shape, 0)
    axes, epsilon = len(row.axes), float(call.attrs.epsilon)
    return row.apply_on_last_axes(lambda x: ops.layer_norm(x, gamma, beta, axes=axes, epsilon=epsilon))


def _rms_norm(call: relax.Call) -> relax.Expr:
    row = _row(call)
    axes, epsilon = len(row.axes), float(call.attrs.epsilon)
    return row.apply_on_last_axes(lambda x: ops.rms_norm(x, call.args[1], axes=axes, epsilon=epsilon))


def _group_norm(call: relax.Call, groups: int | None) -> relax.Expr | None:
    """group_norm with all axes but batch and channels in a row; `groups` None is one for each channel."""
    rank = len(list(call.ty.shape))
    channel = int(call.attrs.channel_axis) % rank
    axes = sorted(int(a) % rank for a in call.attrs.axes)
    if axes[:1] == [0] and isinstance(call.ty.shape[0], tirx.IntImm) and int(call.ty.shape[0]) == 1:
        axes = axes[1:]  # torch's instance norm makes channels of the batch
    if axes != [a for a in range(1, rank) if a != channel] or channel == 0:
        return None
    channels = call.ty.shape[channel]
    if not isinstance(channels, tirx.IntImm):
        return None
    gamma = call.args[1] if call.attrs.scale else _constant_of([channels], 1)
    beta = call.args[2] if call.attrs.center else _constant_of([channels], 0)
    count, epsilon = groups or int(channels), float(call.attrs.epsilon)
    # channels stand behind the batch, positions behind the channels
    row = _Row(call.args[0], axes)
    return row.apply_on_last_axes(lambda x: ops.group_norm(x, gamma, beta, groups=count, epsilon=epsilon))


class _Row:
    """The axes of a tensor that are normalized together, in the order of gamma."""

    def __init__(self, x: relax.Expr, axes: Sequence[int]) -> None:
        self.x, self.axes = x, list(axes)
        self._rank = len(list(x.ty.shape))

    @property
    def shape(self) -> list[tirx.PrimExpr]:
        """Sizes of the axes."""
        return [self.x.ty.shape[axis] for axis in self.axes]

    def apply_on_last_axes(self, operator: Callable[[relax.Expr], relax.Expr]) -> relax.Expr:
        """operator(x) with the axes moved to the end, and back again."""
        order = [axis for axis in range(self._rank) if axis not in self.axes] + self.axes
        if order == list(range(self._rank)):
            return operator(self.x)
        back = [int(axis) for axis in np.argsort(order)]
        return relax.op.permute_dims(operator(relax.op.permute_dims(self.x, order)), back)


def _row(call: relax.Call) -> _Row:
    rank = len(list(call.args[0].ty.shape))
    return _Row(call.args[0], [int(axis) % rank for axis in call.attrs.axes])


def _constant_of(shape: Sequence[tirx.PrimExpr], value: float) -> relax.Expr:
    return relax.const(np.full([int(size) for size in shape], value, np.float32))


def _softmax(call: relax.Call, x: relax.Expr) -> relax.Call:
    return ops.softmax(x, axis=int(call.attrs.axis))


def _log_softmax(call: relax.Call, x: relax.Expr) -> relax.Call:
    return ops.log_softmax(x, axis=int(call.attrs.axis))


NORMALIZATIONS = RewriteRules(
    RewriteRule("call := nn.softmax(x)", _softmax, dtype=FLOAT),
    RewriteRule("call := nn.log_softmax(x)", _log_softmax, dtype=FLOAT),
    RewriteRule("call := nn.layer_norm()", _layer_norm, dtype=FLOAT),
    RewriteRule("call := nn.rms_norm()", _rms_norm, dtype=FLOAT),
    RewriteRule("call := nn.group_norm()", lambda call: _group_norm(call, int(call.attrs.num_groups)), dtype=FLOAT),
    RewriteRule("call := nn.instance_norm()", lambda call: _group_norm(call, None), dtype=FLOAT),
)
