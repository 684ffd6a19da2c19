"""Comparison of two activations, decided on their codes, exactly: each keeps its own scale.

Before                                            After
    m = less(sq(x), sq(y))                            t = table(x): for each code the least code of y that is larger
                                                      m = greater_equal(y, t)

Comparisons with a constant are tables (table.py).

Tests: tests/passes/families/test_facts.py
"""

from __future__ import annotations

from tvm import relax

from tvmq import numerics
from tvmq.graph import ops
from tvmq.graph.view import View, dtype_of, is_const, op_name
from tvmq.passes.families.base import CODES_SUFFIX, THRESHOLDS_SUFFIX, Codes, Family, Group, Realizer

# operator -> (kind of numerics.compare_table, operator on codes and thresholds)
ON_CODES = {
    "less": ("greater", relax.op.greater_equal),
    "less_equal": ("greater_equal", relax.op.greater_equal),
    "greater": ("greater_equal", relax.op.less),
    "greater_equal": ("greater", relax.op.less),
    "equal": ("equal", relax.op.equal),
    "not_equal": ("equal", relax.op.not_equal),
}


class Compare(Family):
    """Comparison of two activations, decided on their codes."""

    name = "compare"

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A comparison of two float tensors of the graph."""
        if any(is_const(arg) for arg in value.args):
            return "limit: a comparison with a constant that varies over the tensor has no integer form"
        if any(dtype_of(arg) != "float32" for arg in value.args):
            return "limit: a comparison of other types than float32"
        return Group(self.name, var.name, [var.name], [arg.name for arg in value.args])

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit thresholds and a comparison of integers."""
        x, y = (realizer.codes(name) for name in group.inputs)
        kind, operator = ON_CODES[op_name(realizer.view.value[group.root])]
        values = relax.const(numerics.compare_table(kind, x.qparams, y.qparams))
        least = ops.table(x.var, values, function=f"least code {kind}")
        thresholds = realizer.emit(least, f"{group.root}{THRESHOLDS_SUFFIX}")
        codes_int16 = realizer.emit(relax.op.astype(y.var, "int16"), f"{group.root}{CODES_SUFFIX}")
        return realizer.emit(operator(codes_int16, thresholds), group.root)


FAMILY = Compare()
