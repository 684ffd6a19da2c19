"""Modules that compute otherwise than the ones they are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import const_value, is_const


def change_constant(mod: tvm.IRModule, variable: str, change: Callable[[np.ndarray], np.ndarray]) -> tvm.IRModule:
    """The module with the constant that computes a variable changed."""
    rewriter = Rewriter(mod)
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        value = rewriter.substitute(value)
        if var.name == variable:
            args = [relax.const(change(const_value(a).copy())) if is_const(a) else a for a in value.args]
            value = relax.Call(value.op, args, value.attrs, value.ty_args, value.span)
        rewriter.bind(var, rewriter.emit(value, var.name))
    return rewriter.finish()
