"""Dynamic dimensions of a module (a dynamic batch, say) and how they become numbers.

resolve_shapes: sizes that the model itself tells.

Before                                              After
    x [batch, 12], y = reshape(x, (1, 3, 4))            x [1, 12], y = reshape(x, (1, 3, 4))
    y = table[0 : n], of unknown shape                  y = table[0 : n] of n rows; more are refused (limits.py)

Leaves    a note in the ledger for each dimension that a reshape to numbers, or a weight, fixes.
Numerics  nothing changes.

Tests: tests/graph/test_resolve_shapes.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import tvm
from tvm import relax

from tvmq.calibration.dataset import Input
from tvmq.errors import ConfigError, ModelError
from tvmq.graph.fitting_sizes import fitting_sizes
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.multiples import multiples_of
from tvmq.graph.names import input_names
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.size_text import size_text
from tvmq.graph.sizes import Dim, are_equal, product, solve_size
from tvmq.graph.state_pairs import appended_dimensions
from tvmq.graph.view import View, op_name


def dynamic_dimensions(mod: tvm.IRModule) -> dict[str, tuple[str, int]]:
    """{symbolic dimension: (input, axis) where it occurs first}."""
    names = input_names(mod["main"])
    dimensions: dict[str, tuple[str, int]] = {}
    for param in mod["main"].params:
        for axis, dim in enumerate(param.ty.shape):
            if isinstance(dim, tvm.tirx.Var):
                dimensions.setdefault(dim.name, (names[param.name], axis))
    return dimensions


def sizes_in(mod: tvm.IRModule, feed: Mapping[str, np.ndarray]) -> dict[str, int]:
    """{dynamic dimension: its size} in these inputs; of inputs that disagree the first one counts."""
    dynamic = dynamic_dimensions(mod)
    return {name: int(feed[source].shape[axis]) for name, (source, axis) in dynamic.items() if source in feed}


def sample_sizes(mod: tvm.IRModule, feed: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Sizes of dynamic dimensions for one sample of these inputs: dynamic first axes are 1."""
    dynamic = dynamic_dimensions(mod)
    return {name: 1 if dynamic[name][1] == 0 else size for name, size in sizes_in(mod, feed).items()}


def with_sizes(mod: tvm.IRModule, sizes: Mapping[str, int], *, least: int = 1) -> tvm.IRModule:
    """The module with these dynamic dimensions as numbers; the others stay dynamic.

    least   size of a dimension, at least
    raises  ConfigError for a name that is no dynamic dimension, a smaller size, or no multiple where these alone fit
    """
    dynamic = dynamic_dimensions(mod)
    for name, size in sizes.items():
        if name not in dynamic:
            known = f"they are {', '.join(dynamic)}" if dynamic else "there are none"
            raise ConfigError(f"sizes: '{name}' is no dynamic dimension of the model; {known}")
        smallest = 0 if size == 0 and name in appended_dimensions(mod) else least
        if not isinstance(size, int | np.integer) or size < smallest:
            raise ConfigError(f"sizes: '{name}' must be an integer of at least {least}. Got {size!r} instead")
        if size % _multiple(mod, name):
            raise ConfigError(
                f"sizes: '{name}' cannot be {size}, the model takes multiples of {_multiple(mod, name)}; pad or resize "
                "what is given"
            )
    if not sizes:
        return mod
    return relax.transform.BindSymbolicVars({name: int(size) for name, size in sizes.items()})(mod)


def _multiple(mod: tvm.IRModule, name: str) -> int:
    """The number whose multiples a dynamic dimension may be."""
    bindings = (binding for block in mod["main"].body.blocks for binding in block.bindings)
    return math.lcm(*(multiples_of(binding.value).get(name, 1) for binding in bindings))


def inputs_of(mod: tvm.IRModule) -> list[Input]:
    """Inputs of a module, by the names of its source; dynamic dimensions are None."""
    names = input_names(mod["main"])
    return [Input(names[param.name], _sizes(param), str(param.ty.dtype)) for param in mod["main"].params]


def _sizes(param: relax.Var) -> tuple[int | None, ...]:
    return tuple(int(d) if isinstance(d, tvm.tirx.IntImm) else None for d in param.ty.shape)


def resolve_shapes(mod: tvm.IRModule) -> tvm.IRModule:
    """Resolve dynamic dimensions as far as the model itself tells them; see the head of this file.

    raises  ModelError for a reshape, or operands of a product, that are not proved to fit for all sizes, and that no
            one size makes fit
    """
    notes: list[str] = []
    mod = rewrite(mod, _require_in_bounds) if dynamic_dimensions(mod) else mod
    while dynamic_dimensions(mod) and (fixed := _first_fixed(View(mod))):
        where, name, size = fixed
        notes.append(f"dynamic dimension '{name}' is {size}: layer '{where}' takes no other size")
        mod = with_sizes(mod, {name: size})
    if notes:
        ledger = get_ledger(mod)
        ledger.notes += notes
        mod = with_ledger(mod, ledger)
    return mod


def _require_in_bounds(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    """A slice up to a dynamic dimension has that size: what lies behind the end is refused, not cut off."""
    if op_name(value) != "strided_slice" or value.attrs.assume_inbound:
        return None
    ends = value.args[3].fields if isinstance(value.args[3], relax.Tuple) else ()
    if all(isinstance(end, tvm.tirx.IntImm) for end in ends):
        return None
    return relax.op.strided_slice(*value.args, assume_inbound=True)


def _first_fixed(view: View) -> tuple[str, str, int] | None:
    """(layer, dynamic dimension, size) of the first reshape or operator of weights that takes one size alone."""
    for var, value in view.bindings:
        where = ", ".join(view.sources(var.name))
        for what, before, after in _equal_sizes(var, value):
            if are_equal(before, after) or multiples_of(value):
                continue
            only = solve_size(before, after)
            if only is None:
                raise ModelError(
                    f"prepare, layer '{where}': a {what} of {size_text(before)} values to {size_text(after)} is not "
                    "proved to hold for all sizes; fix the input shapes with shape="
                )
            return where, *only
    return None


def _equal_sizes(var: relax.Var, value: relax.Expr) -> Iterator[tuple[str, Dim, Dim]]:
    """(what it is, two sizes that must be equal) of a reshape, and of operands that must fit each other."""
    if op_name(value) == "reshape" and value.args[0].ty.shape is not None and var.ty.shape is not None:
        before, after = list(value.args[0].ty.shape), list(var.ty.shape)
        changed = [pair for pair in zip(before, after, strict=False) if not are_equal(*pair)]
        if len(before) == len(after) and len(changed) == 1:
            yield "reshape", *changed[0]  # the other axes, which may be dynamic, stay out of it
        else:
            yield "reshape", product(before), product(after)
    for before, after in fitting_sizes(value):
        yield str(op_name(value)).removeprefix("nn."), before, after
