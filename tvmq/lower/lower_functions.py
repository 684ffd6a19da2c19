"""All functions of a module to calls of kernels, which they share.

main is lowered as if it did everything itself, so that nothing is lost at the borders of the core (no transposes of
the layout, no conversions apart from what they are fused with); the three functions that it would call stand beside
it, and code for common sizes of free dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import tvm

from tvmq.graph.functions import function_module, inline_functions, part_functions, unpack_weights
from tvmq.graph.symbolic import free_dimensions, with_sizes
from tvmq.lower.common_sizes import function_name, of_sizes
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.main_calls import Origin
from tvmq.lower.narrow_weights import float_weights, narrow_weights

Walk = Callable[[tvm.IRModule, "Lowerer | None"], Lowerer]


class Lowered(NamedTuple):
    """The module for the compiler; of main {variable: kernel that computes it}, what it says, and what it is for."""

    module: tvm.IRModule
    kernel_names: dict[str, str]
    kernel_notes: dict[str, str]
    origins: dict[str, Origin]
    common: dict[str, dict[str, Origin]]  # the same of the functions for common sizes, by their names


def lower_functions(
    mod: tvm.IRModule, lowerer: Walk, batch: str | None = None, common: Sequence[Mapping[str, int]] = ()
) -> Lowered:
    """All functions as calls of kernels.

    lowerer  makes the walk over a function, from its module and the walk that it shares kernels with
    batch    dimension that becomes 1: samples are run one after the other
    common   {free dimension: size} that main is also compiled for, each as a function of its own
    """
    main = _walk(lowerer, inline_functions(mod), batch, None)
    lowered = main.run()
    functions = {"main": lowered["main"]}
    for name in part_functions(mod):
        lowered = _walk(lowerer, function_module(mod, name), batch, main).run()
        functions[name] = lowered["main"].with_attr("global_symbol", name)
    origins = {}
    for number, sizes in enumerate(common):
        name = function_name(number)
        walk = _walk(lowerer, of_sizes(mod, sizes), batch, main)
        lowered = walk.run()
        functions[name] = lowered["main"].with_attr("global_symbol", name)
        origins[name] = walk.origins
    for name, func in functions.items():
        lowered[name] = func
    return Lowered(lowered, main.kernel_names, main.kernel_notes, main.origins, origins)


def _walk(lowerer: Walk, mod: tvm.IRModule, batch: str | None, shared: Lowerer | None) -> Lowerer:
    """The walk over a function of one sample; weights are constants, but for tables, of which rows are unpacked."""
    kept = unpack_weights(mod, tables=False)
    kept = with_sizes(kept, {batch: 1}) if batch in free_dimensions(kept) else kept
    walk = lowerer(float_weights(kept), shared)
    walk.narrow = narrow_weights(kept)
    return walk
