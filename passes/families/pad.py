"""Padding with a constant that is not 0, on codes: the range of the result holds it, so it has a code.

Before                                            After
    p = pad(sq(x), value)                             t = table(x) in the scale of p
                                                      p = pad(t, code of the value)

Padding with 0 only moves codes (shape.py): 0 always has a code.

Tests: tests/passes/families/test_moves.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.errors import StageError
from tvmq.graph.view import View
from tvmq.passes.families.base import CodedFacts, Codes, Family, Group, Realizer, encode_constant
from tvmq.passes.families.select import LARGEST_CONSTANT


class Pad(Family):
    """Padding with a constant that is not 0."""

    name, facts_type = "pad", CodedFacts

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A padding with one number."""
        number = float(value.attrs.pad_value)
        if not abs(number) <= LARGEST_CONSTANT:
            return f"limit: padding with {number:g} would take all codes for itself"
        return Group(self.name, var.name, [var.name], [value.args[0].name], facts=CodedFacts())

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the padding of rescaled codes."""
        x, y = realizer.codes(group.inputs[0]), realizer.output_qparams(group)
        if y is None:
            raise StageError(
                f"realize, pad '{group.root}': its result carries no scale; was the module annotated here?"
            )
        attrs = realizer.view.value[group.root].attrs
        code = encode_constant(np.asarray(attrs.pad_value, np.float32), y)
        width = [int(w) for w in attrs.pad_width]
        call = relax.op.nn.pad(realizer.rescale(x, y, group).var, width, pad_value=float(code))
        return Codes(realizer.emit(call, group.root), y)


FAMILY = Pad()
