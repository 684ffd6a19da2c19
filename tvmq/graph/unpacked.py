"""Weights that a module keeps two to a byte, as int8 constants: for whoever asks what a weight is."""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq import numerics
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, is_const, make_const, op_name


def unpacked(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with every tvmq.unpack of a constant as the int8 constant; the module itself if it has none."""
    if not any(is_packed(value) for _, value in View(mod).bindings):
        return mod
    return rewrite(mod, _visit)


def is_packed(value: relax.Expr | None) -> bool:
    """True for a tvmq.unpack of a constant."""
    return value is not None and op_name(value) == "tvmq.unpack" and is_const(value.args[0])


def _visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    if not is_packed(value):
        return None
    return make_const(numerics.unpack_int4(const_value(value.args[0]), [int(d) for d in value.attrs.shape]))
