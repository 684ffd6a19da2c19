"""Free dimensions of a module (a dynamic batch, say) and how they become numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tvm
from tvm import relax

from tvmq.dataset import Input
from tvmq.errors import ConfigError
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


def sizes_in(mod: tvm.IRModule, feed: Mapping[str, np.ndarray]) -> dict[str, int]:
    """{free dimension: its size} in these inputs; of inputs that disagree the first one counts."""
    free = free_dimensions(mod)
    return {name: int(feed[given].shape[axis]) for name, (given, axis) in free.items() if given in feed}


def sample_sizes(mod: tvm.IRModule, feed: Mapping[str, np.ndarray]) -> dict[str, int]:
    """The same for one sample of these inputs: free first axes are 1."""
    free = free_dimensions(mod)
    return {name: 1 if free[name][1] == 0 else size for name, size in sizes_in(mod, feed).items()}


def with_sizes(mod: tvm.IRModule, sizes: Mapping[str, int]) -> tvm.IRModule:
    """The module with these free dimensions as numbers; the others stay free.

    raises  ConfigError for a name that is no free dimension, or a size below 1
    """
    free = free_dimensions(mod)
    for name, size in sizes.items():
        if name not in free:
            known = f"they are {', '.join(free)}" if free else "there are none"
            raise ConfigError(f"sizes: '{name}' is no free dimension of the model; {known}")
        if not isinstance(size, int | np.integer) or size < 1:
            raise ConfigError(f"sizes: '{name}' must be an integer of at least 1. Got {size!r} instead")
    if not sizes:
        return mod
    return relax.transform.BindSymbolicVars({name: int(size) for name, size in sizes.items()})(mod)


def inputs_of(mod: tvm.IRModule) -> list[Input]:
    """What a module takes, by the names of its source; free dimensions are None."""
    names = input_names(mod["main"])
    return [Input(names[param.name], _sizes(param), str(param.ty.dtype)) for param in mod["main"].params]


def _sizes(param: relax.Var) -> tuple[int | None, ...]:
    return tuple(int(d) if isinstance(d, tvm.tirx.IntImm) else None for d in param.ty.shape)
