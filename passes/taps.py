"""A module that also returns intermediate tensors: how calibration and comparison look inside."""

from __future__ import annotations

from collections.abc import Sequence

import tvm
from tvm import relax

from tvmq.graph.rewrite import build_function
from tvmq.graph.view import View


def tap(mod: tvm.IRModule, names: Sequence[str]) -> tvm.IRModule:
    """The module whose only results are the named variables, in that order, as one tuple; names may repeat "
    "parameters."""
    view = View(mod)
    result = relax.Tuple([view.var[name] for name in names])
    module = mod.clone()
    module["main"] = build_function(list(view.func.params), view.bindings, result, view.func)
    return module
