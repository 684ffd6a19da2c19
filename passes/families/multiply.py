"""Product of two activations in integers (squeeze-excite); absorbs relu and clip.

Before                                            After
    m = multiply(sq(x), sq(y))                        p = tvmq.multiply(x, y) exact in int32
                                                      m = requantize(p, s_x * s_y / s_m)

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.view import View, is_const
from tvmq.passes.families import scale_shift
from tvmq.passes.families.absorb import absorb_clip
from tvmq.passes.families.base import PRODUCT_SUFFIX, BoundedFacts, Codes, Family, Group, Realizer


class Multiply(Family):
    """Element-wise product of two activations."""

    name, facts_type = "multiply", BoundedFacts

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A product of two tensors of the graph."""
        if any(is_const(arg) for arg in value.args):
            return scale_shift.FAMILY.group(view, var, value)
        members, low, high = [var.name], -np.inf, np.inf
        clip = absorb_clip(view, var.name)
        if clip:
            members.append(clip[0])
            low, high = clip[1:]
        return Group(self.name, var.name, members, [arg.name for arg in value.args], facts=BoundedFacts(low, high))

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the product and its requantize."""
        a, b = (realizer.codes(name) for name in group.inputs)
        call = ops.multiply(a.var, b.var, a_zero=a.zero_point, b_zero=b.zero_point)
        acc = realizer.emit(call, f"{group.root}{PRODUCT_SUFFIX}")
        return realizer.requantize(acc, np.atleast_1d(np.float64(a.scale) * np.float64(b.scale)), group)


FAMILY = Multiply()
