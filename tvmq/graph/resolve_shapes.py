"""What the model itself says about its free dimensions.

Before                                              After
    x [batch, 12], y = reshape(x, (1, 3, 4))            x [1, 12], y = reshape(x, (1, 3, 4))
    y = table[0 : n], of unknown shape                  y = table[0 : n] of n rows; more are refused (limits.py)

Leaves    a note in the ledger for each dimension that a reshape to numbers fixes.
Numerics  nothing changes.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.errors import ModelError
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.sizes import are_equal, product, solve_size
from tvmq.graph.symbolic import free_dimensions, with_sizes
from tvmq.graph.view import View, op_name


def resolve_shapes(mod: tvm.IRModule) -> tvm.IRModule:
    """See the head of this file.

    raises  ModelError for a reshape that is not proved to hold for all sizes, and that no one size makes hold
    """
    notes: list[str] = []
    mod = rewrite(mod, _inside) if free_dimensions(mod) else mod
    while free_dimensions(mod) and (found := _first_fixed(View(mod))):
        where, name, size = found
        notes.append(f"free dimension '{name}' is {size}: the reshape of layer '{where}' holds for no other size")
        mod = with_sizes(mod, {name: size})
    if notes:
        ledger = get_ledger(mod)
        ledger.notes += notes
        mod = with_ledger(mod, ledger)
    return mod


def _inside(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    """A slice up to a free dimension has that size: what lies behind the end is refused, not cut off."""
    if op_name(value) != "strided_slice" or value.attrs.assume_inbound:
        return None
    ends = value.args[3].fields if isinstance(value.args[3], relax.Tuple) else ()
    if all(isinstance(end, tvm.tirx.IntImm) for end in ends):
        return None
    return relax.op.strided_slice(*value.args, assume_inbound=True)


def _first_fixed(view: View) -> tuple[str, str, int] | None:
    """(layer, free dimension, size) of the first reshape that holds for one size alone."""
    for var, value in view.bindings:
        if op_name(value) != "reshape" or value.args[0].ty.shape is None or var.ty.shape is None:
            continue
        before, after = product(list(value.args[0].ty.shape)), product(list(var.ty.shape))
        if are_equal(before, after):
            continue
        where, only = ", ".join(view.sources(var.name)), solve_size(before, after)
        if only is None:
            raise ModelError(
                f"prepare, layer '{where}': a reshape of {before} values to {after} is not proved to hold for all "
                "sizes; fix the input shapes with shape="
            )
        return where, *only
    return None
