"""Free dimensions of a module (a dynamic batch, say) and how they become numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tvm
from tvm import relax

from tvmq.dataset import Input
from tvmq.errors import ModelError
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.names import input_names


def free_dimensions(mod: tvm.IRModule) -> dict[str, tuple[str, int]]:
    """{symbolic dimension: (input, axis) where it occurs first}."""
    names = input_names(mod["main"])
    found: dict[str, tuple[str, int]] = {}
    for param in mod["main"].params:
        for axis, dim in enumerate(param.ty.shape):
            if isinstance(dim, tvm.tirx.Var):
                found.setdefault(dim.name, (names[param.name], axis))
    return found


def fix_dimensions(mod: tvm.IRModule, feed: Mapping[str, np.ndarray] | None) -> tvm.IRModule:
    """The module with all dimensions static: a free first axis becomes 1, others take their size from `feed`.

    raises  ModelError where a free dimension is no batch and there is no data to tell its size
    """
    free = free_dimensions(mod)
    if not free:
        return mod
    sizes = {}
    for name, (param, axis) in free.items():
        if axis == 0:
            sizes[name] = 1
        elif feed is not None and param in feed:
            sizes[name] = int(feed[param].shape[axis])
        else:
            raise ModelError(
                f"input '{param}': axis {axis} ('{name}') has no fixed size; give from_onnx(..., "
                f"shape={{'{param}': (...)}})"
            )
    fixed = relax.transform.BindSymbolicVars(sizes)(mod)
    ledger = get_ledger(mod)
    ledger.notes.append("free dimensions were fixed: " + ", ".join(f"{name} = {size}" for name, size in sizes.items()))
    return with_ledger(fixed, ledger)


def inputs_of(mod: tvm.IRModule) -> list[Input]:
    """What a module takes, by the names of its source; free dimensions are None."""
    names = input_names(mod["main"])
    return [Input(names[param.name], _sizes(param), str(param.ty.dtype)) for param in mod["main"].params]


def _sizes(param: relax.Var) -> tuple[int | None, ...]:
    return tuple(int(d) if isinstance(d, tvm.tirx.IntImm) else None for d in param.ty.shape)
