"""Weights that a module keeps two to a byte, as int8 constants: for whoever asks what a weight is."""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq import numerics
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, is_const, make_const, op_name


def unpack_weights(mod: tvm.IRModule, *, tables: bool = True) -> tvm.IRModule:
    """The module with every tvmq.unpack of a constant as the int8 constant; the module itself if it has none.

    tables   also those of which rows are taken; False for code that unpacks the rows alone
    """
    view = View(mod)
    wanted = {var.name for var, value in view.bindings if is_packed(value) and (tables or not _is_table(view, var))}
    if not wanted:
        return mod

    def visit(_rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        return _constant(value) if var.name in wanted else None

    return rewrite(mod, visit)


def is_packed(value: relax.Expr | None) -> bool:
    """True for a tvmq.unpack of a constant."""
    return value is not None and op_name(value) == "tvmq.unpack" and is_const(value.args[0])


def _is_table(view: View, var: relax.Var) -> bool:
    return all(op_name(view.value[reader]) == "take" for reader in view.readers[var.name])


def _constant(value: relax.Expr) -> relax.Expr:
    return make_const(numerics.unpack_int4(const_value(value.args[0]), [int(d) for d in value.attrs.shape]))
