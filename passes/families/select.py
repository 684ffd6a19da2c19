"""Choice between two activations on codes of one scale: maximum, minimum, where, tensor_scatter.

Before                                            After
    m = maximum(sq(x), sq(y))                         m = maximum(x, y) on codes: their order is that of the reals
    w = where(mask, sq(x), sq(y))                     w = where(mask, x, y) on codes
    s = tensor_scatter(sq(x), sq(y), indices)         s = tensor_scatter(x, y, indices) on codes
    w = where(mask, sq(x), constant)                  t = table(x) in the scale of w
                                                      w = where(mask, t, codes of the constant)

unify_scales gives both sides one scale; a side that keeps its own is brought to the common one by a table first.
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.errors import StageError
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.numerics.spec import QParams
from tvmq.passes.families.base import CodedFacts, Codes, Facts, Family, Group, Realizer, encode_constant
from tvmq.passes.partition.float_exceptions import why_float_sum

# Beyond this a constant is a mask for a softmax: as part of the range it would leave nothing of the rest.
LARGEST_CONSTANT = 1e3


class Select(Family):
    """An operator that chooses between the values of two activations of one scale."""

    name, facts_type = "select", Facts
    joins = True

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """Two sides, at least one of them a tensor of the graph."""
        reason = why_float_sum(view, var.name)
        if reason:
            return reason
        sides = _sides(value)
        tensors = [arg.name for arg in sides if not is_const(arg)]
        if not tensors:
            return "limit: both sides are constants"
        constants = [const_value(arg) for arg in sides if is_const(arg)]
        if any(not (np.abs(array) <= LARGEST_CONSTANT).all() for array in constants):
            return f"limit: a constant beyond {LARGEST_CONSTANT:g} would take all codes for itself"
        if not constants:
            return Group(self.name, var.name, [var.name], tensors, passes=True)
        return Group(self.name, var.name, [var.name], tensors, facts=CodedFacts())

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the same operator on codes."""
        parts = [realizer.codes(name) for name in group.inputs]
        common = self._common_qparams(realizer, group, parts)
        tensors = iter([realizer.rescale(part, common, group).var for part in parts])
        call = realizer.view.value[group.root]
        sides = [
            relax.const(encode_constant(const_value(arg), common)) if is_const(arg) else next(tensors)
            for arg in _sides(call)
        ]
        first = _first_side(call)
        before, behind = (map(realizer.substitute, part) for part in (call.args[:first], call.args[first + 2 :]))
        args = [*before, *sides, *behind]
        return Codes(realizer.emit(relax.Call(call.op, args, call.attrs), group.root), common)

    def _common_qparams(self, realizer: Realizer, group: Group, parts: list[Codes]) -> QParams:
        # a model with scales of its own says what its result's is; unify_scales leaves the sides' common one
        common = realizer.output_qparams(group)
        if common is None and group.passes:
            return max((part.qparams for part in parts), key=lambda q: float(np.float32(q.scale)))
        if common is None:
            raise StageError(
                f"realize, select '{group.root}': its result carries no scale; was the module annotated here?"
            )
        return common


def _first_side(call: relax.Call) -> int:
    """Position of the first of the two operands to choose from: behind the condition of where."""
    return 1 if op_name(call) == "where" else 0


def _sides(call: relax.Call) -> list[relax.Expr]:
    """Operands to choose from."""
    return list(call.args[_first_side(call) :][:2])


FAMILY = Select()
