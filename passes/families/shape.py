"""Operators that move values without changing them: the codes move, scale and zero point stay.

Before                                            After
    r = reshape(sq(x), shape)                         r = reshape(x, shape) on codes

Also flatten, transpose, squeeze, expand_dims, slice, split, take, tile, flip, broadcast, nearest resize, and padding
with 0 (its code is the zero point).

Tests: tests/passes/test_partition.py
"""

from __future__ import annotations

from tvm import relax

from tvmq.graph.evaluate import evaluator
from tvmq.graph.view import View, op_name
from tvmq.passes.families import pad
from tvmq.passes.families.base import Codes, Facts, Family, Group, Realizer


class Shape(Family):
    """Operators that move values without changing them."""

    name, facts_type = "shape", Facts
    moves = True

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """Any of them that copies values."""
        if op_name(value) == "nn.pad" and value.attrs.pad_mode == "constant" and float(value.attrs.pad_value) != 0.0:
            return pad.FAMILY.group(view, var, value)
        reason = _changes_values(value)
        if reason:
            return reason
        return Group(self.name, var.name, [var.name], [value.args[0].name], passes=True)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the same operator on codes."""
        x = realizer.codes(group.inputs[0])
        call = realizer.view.value[group.root]
        if isinstance(call, relax.TupleGetItem):
            return Codes(realizer.emit(relax.TupleGetItem(x.var, call.index), group.root), x.qparams)
        if op_name(call) == "nn.pad":
            width = [int(w) for w in call.attrs.pad_width]
            moved = relax.op.nn.pad(x.var, width, pad_value=float(x.zero_point), pad_mode=call.attrs.pad_mode)
        else:
            rest = [realizer.substitute(arg) for arg in call.args[1:]]  # indices may be computed in the graph
            moved = relax.Call(call.op, [x.var, *rest], call.attrs, call.ty_args)
        return Codes(realizer.emit(moved, group.root), x.qparams)


def _changes_values(value: relax.Call) -> str | None:
    name = op_name(value)
    if evaluator(value, exact=True) is not None:
        return None
    if name != "image.resize2d":
        return f"limit: this form of {name} has no definition on codes"
    attrs = value.attrs
    if attrs.method != "nearest_neighbor":
        return f"limit: {attrs.method} resize computes new values"
    return (
        "limit: a nearest resize that does not just repeat pixels "
        f"({attrs.layout}, {attrs.coordinate_transformation_mode}, {attrs.rounding_method})"
    )


FAMILY = Shape()
