"""Maximum of windows, maximum or minimum over axes, on codes: order is that of the reals, scale and zero point stay.

Before                                            After
    p = max_pool2d(sq(x))                             p = max_pool2d(x) on codes

Padding never wins: TVM pads with the lowest value of the type.

Tests: tests/passes/families/test_facts.py
"""

from __future__ import annotations

from tvm import relax

from tvmq.graph.view import View
from tvmq.passes.families.base import Codes, Facts, Family, Group, Realizer


class MaxPool(Family):
    """Maximum of windows; maximum or minimum over axes."""

    name, facts_type = "max_pool", Facts

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """Any pool or maximum with one result."""
        return Group(self.name, var.name, [var.name], [value.args[0].name], passes=True)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the same operator on codes."""
        x = realizer.codes(group.inputs[0])
        call = realizer.view.value[group.root]
        return Codes(realizer.emit(relax.Call(call.op, [x.var], call.attrs), group.root), x.qparams)


FAMILY = MaxPool()
