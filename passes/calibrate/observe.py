"""Observe tensors where they are made, instead of returning them.

Before                          After
    main(x)                         main(x, token, control, tables, extremes, totals)
        y = relu(x)                     x_seen = observe(x, token, control, tables, extremes, totals)
        ...                             y = relu(x)
                                        y_seen = observe(y, x_seen, control, tables, extremes, totals)
                                        return y_seen

Needs     static float32 tensors, and the places of their statistics (observers/streamed.py).
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph.ops import observe as operator
from tvmq.graph.rewrite import build_function
from tvmq.graph.view import View, dtype_of, sizes_of
from tvmq.observers.streamed import CONTROL, EXTREMES, SCRATCH, TOKEN, TOTALS, Streamed


def can_be_observed(view: View, names: list[str]) -> bool:
    """True if all are float32 tensors of static sizes that hold values, and our own inputs have names of their own."""
    if {TOKEN, CONTROL, SCRATCH, EXTREMES, TOTALS} & view.var.keys():
        return False
    variables = [view.var[name] for name in names]
    return all(dtype_of(v) == "float32" and all(isinstance(s, int) and s > 0 for s in sizes_of(v)) for v in variables)


def observe(mod: tvm.IRModule, streamed: Streamed) -> tvm.IRModule:
    """See the head of this file."""
    view = View(mod)
    memory = [relax.Var(name, relax.TensorType(shape, dtype)) for name, (shape, dtype) in streamed.shapes().items()]
    first = token = relax.Var(TOKEN, relax.TensorType((1,), "int32"))
    bindings: list[tuple[relax.Var, relax.Expr]] = []

    def seen(var: relax.Var, token: relax.Var) -> relax.Var:
        part, statistics = streamed.parts[var.name], streamed.statistics[var.name]
        axis = statistics.ranges.channel_axis
        call = operator.observe(
            var,
            token,
            *memory,
            tensor=part.index,
            begin=part.begin,
            slots=streamed.slots,
            batched=part.batched,
            counted=statistics.has_histogram,
            axis=-1 if axis is None else axis - (not part.batched),  # statistics see a batch of one
        )
        following = relax.DataflowVar(f"{var.name}_seen", token.ty)
        bindings.append((following, call))
        return following

    made = [(param, None) for param in view.params.values()] + list(view.bindings)
    for var, value in made:
        if value is not None:
            bindings.append((var, value))
        if var.name in streamed.parts:
            token = seen(var, token)
    module = mod.clone()
    module["main"] = build_function([*view.func.params, first, *memory], bindings, token, view.func)
    return module
