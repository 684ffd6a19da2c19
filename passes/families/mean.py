"""Mean or sum over axes, global average pooling included: an exact int32 sum, then a requantize (by 1 / count).

Before                                            After
    m = mean(sq(x), axis=[2, 3])                      s = tvmq.sum(x) of the centred codes
                                                      m = requantize(s, s_x / (count * s_m))
    t = sum(sq(x), axis=[2, 3])                       t = requantize(s, s_x / s_t)

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.view import View, op_name, rank_of, sizes_of
from tvmq.passes.families.avg_pool import emit_average
from tvmq.passes.families.base import BoundedFacts, Codes, Family, Group, Realizer, fact_field


@dataclass
class MeanFacts(BoundedFacts):
    """The axes that disappear."""

    low: float = fact_field(-np.inf)
    high: float = fact_field(np.inf)
    axes: list[int] = field(default_factory=list, metadata={"written": True})
    keepdims: bool = fact_field(False)


class Mean(Family):
    """Mean or sum over axes, global average pooling included."""

    name, facts_type = "mean", MeanFacts

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A mean or sum over static axes."""
        data = value.args[0]
        rank = rank_of(data)
        axes = range(rank) if value.attrs.axis is None else [int(a) % rank for a in value.attrs.axis]
        sizes = [sizes_of(data)[a] for a in axes]
        if any(isinstance(size, str) for size in sizes):
            return f"limit: the number of values is dynamic ({', '.join(map(str, sizes))})"
        count = math.prod(map(int, sizes))
        if count * 255 > 2**31 - 1:
            return f"limit: the sum of {count} codes could leave int32"
        facts = MeanFacts(axes=sorted(axes), keepdims=bool(value.attrs.keepdims))
        return Group(self.name, var.name, [var.name], [data.name], facts=facts)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the sum and its requantize."""
        x = realizer.codes(group.inputs[0])
        axes, keepdims = group.facts.axes, group.facts.keepdims
        is_mean = op_name(realizer.view.value[group.root]) == "mean"
        count = np.asarray(math.prod(int(sizes_of(x.var)[a]) for a in axes) if is_mean else 1)
        sums = ops.sum(x.var, axes=axes, keepdims=keepdims, zero_point=x.zero_point)
        return emit_average(realizer, sums, x, count, group)

    def average_counts(self, view: View, group: Group) -> np.ndarray | None:
        """The number of values along the axes; sums are no averages."""
        call = view.value[group.root]
        if op_name(call) != "mean":
            return None
        return np.asarray(math.prod(int(sizes_of(call.args[0])[axis]) for axis in group.facts.axes))


FAMILY = Mean()
