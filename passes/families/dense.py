"""Matrix product with a constant right side (K, N) in integers; absorbs bias, relu and clip.

Before                                            After
    m = matmul(sq(x), sq(w))                          a = matmul(x, w) in int32
    b = add(m, bias)                                  b = add(a, round(bias / (s_x * s_w)) - z_x * sum(w))
                                                      y = requantize(b, s_x * s_w / s_y)

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.view import View, is_const, rank_of, shape_of
from tvmq.options.config import QConfig
from tvmq.options.rules import LayerFacts
from tvmq.passes.families.absorb import absorb_bias, absorb_clip, is_channel_constant
from tvmq.passes.families.base import Codes, Family, Group, Realizer, WeightFacts
from tvmq.passes.families.weights import integer_bias, weight_codes


class Dense(Family):
    """Matrix product with a constant right side."""

    name, facts_type = "dense", WeightFacts
    anchor = weighted = rounds_weights = reads_int16 = True

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A product with a constant matrix on the right."""
        data, weight = value.args
        if is_const(data):
            return "limit: a product with a constant vector on the left has no integer form"
        if rank_of(weight) != 2:
            return f"limit: the constant has rank {rank_of(weight)}, not 2"
        outputs = shape_of(weight)[1]
        members = [var.name]
        facts = WeightFacts()
        rank = rank_of(var)
        bias = absorb_bias(view, var.name, lambda b: is_channel_constant(b, rank, -1, outputs))
        if bias:
            members.append(bias)
        clip = absorb_clip(view, members[-1])
        if clip:
            members.append(clip[0])
            facts.low, facts.high = clip[1:]
        facts.bias = bool(bias)
        return Group(self.name, var.name, members, [data.name], macs=multiply_accumulates(value), facts=facts)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit matmul, add and requantize."""
        x = realizer.codes(group.inputs[0])
        weight, scale = weight_codes(realizer, group)
        bias = integer_bias(realizer, group, weight, scale, x, axis=1)
        sums = self.sums(realizer.view.value[group.root], x.var, relax.const(weight))
        acc = realizer.emit(sums, group.root)
        acc = realizer.emit(relax.op.add(acc, relax.const(bias)), f"{group.root}_bias")
        product = np.float64(x.scale) * scale.astype(np.float64)
        return realizer.requantize(acc, product, group, axis=rank_of(acc) - 1)

    def sums(self, call: relax.Call, x: relax.Expr, y: relax.Expr) -> relax.Call:
        """Product of matrices."""
        return relax.op.matmul(x, y, out_dtype="int32")

    def switched_off(self, layer: LayerFacts, config: QConfig) -> str | None:
        """Option that keeps all matrix products in float."""
        return "option skip_dense_layer" if config.skip_dense_layer else None


FAMILY = Dense()
