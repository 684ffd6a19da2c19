"""Prelu with a slope for each channel, in integers; one slope for all channels is a table (table.py).

Before                                            After
    p = prelu(sq(x), slopes)                          p = tvmq.prelu(x, multipliers of negative values)

Tests: tests/passes/families/test_scale_shift.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.errors import StageError
from tvmq.graph import ops
from tvmq.graph.view import View, const_value, is_const, rank_of
from tvmq.passes.families.base import CodedFacts, Codes, Family, Group, Realizer


class Prelu(Family):
    """Prelu with a slope for each channel."""

    name, facts_type = "prelu", CodedFacts

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A prelu of constant, finite slopes."""
        if not is_const(value.args[1]):
            return "limit: the slopes are computed in the graph"
        if not np.isfinite(const_value(value.args[1])).all():
            return "limit: slopes that are not finite"
        return Group(self.name, var.name, [var.name], [value.args[0].name], facts=CodedFacts())

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit one tvmq.prelu."""
        x, y = realizer.codes(group.inputs[0]), realizer.output_qparams(group)
        if y is None:
            raise StageError(
                f"realize, prelu '{group.root}': its result carries no scale; was the module annotated here?"
            )
        call = realizer.view.value[group.root]
        slopes = const_value(call.args[1]).reshape(-1)
        params = numerics.prelu_params(x.scale, slopes, y.scale)
        shape = [1] * rank_of(x.var)
        if slopes.size > 1:
            shape[int(call.attrs.axis)] = slopes.size
        new = ops.prelu(
            x.var,
            relax.const(params.slopes.reshape(shape)),
            multiplier=params.multiplier,
            shift=params.shift,
            x_zero=x.zero_point,
            zero_point=int(y.zero_point),
            dtype=y.spec.dtype,
            qmin=y.spec.qmin,
            qmax=y.spec.qmax,
        )
        return Codes(realizer.emit(new, group.output), y)


FAMILY = Prelu()
