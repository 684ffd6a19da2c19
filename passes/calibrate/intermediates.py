"""A module that also returns intermediate tensors: how calibration and comparison look inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.ops.conversions import is_calibrated
from tvmq.graph.rewrite import Rewriter, build_function
from tvmq.graph.view import View, op_name

Feed = Mapping[str, np.ndarray]
# A compiled float module: {input: array} -> results in order.
Run = Callable[[Feed], Sequence[np.ndarray]]
# Compiles a float module.
Evaluator = Callable[[tvm.IRModule], Run]


def return_intermediates(mod: tvm.IRModule, names: Sequence[str]) -> tvm.IRModule:
    """The module whose only results are the named variables, in that order, as one tuple; names may repeat
    parameters."""
    view = View(mod)
    result = relax.Tuple([view.var[name] for name in names])
    module = mod.clone()
    module["main"] = build_function(list(view.func.params), view.bindings, result, view.func)
    return module


def drop_uncalibrated(mod: tvm.IRModule) -> tvm.IRModule:
    """The module without the simulated_quantize operators that have no scale yet and change nothing.

    One on a weight would hide the constant that kernels need: ResNet-50 with them took 17 times as long.
    """
    rewriter = Rewriter(mod)
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        idle = op_name(value) == "tvmq.simulated_quantize" and not is_calibrated(value)
        new = rewriter.substitute(value)
        rewriter.bind(var, new.args[0] if idle else rewriter.emit(new, var.name))
    return rewriter.finish()
