"""All functions of a module to calls of kernels, which they share.

main is lowered as if it did everything itself, so that nothing is lost at the borders of the core (no transposes of
the layout, no conversions apart from what they are fused with); the three functions that it would call stand beside
it.
"""

from __future__ import annotations

from collections.abc import Callable

import tvm

from tvmq.codegen.float_weights import float_weights
from tvmq.codegen.lower import Lowerer
from tvmq.graph.functions import function_module, inlined, part_functions
from tvmq.graph.symbolic import free_dimensions, with_sizes
from tvmq.graph.unpacked import unpacked

Walk = Callable[[tvm.IRModule, "Lowerer | None"], Lowerer]


def lower_functions(mod: tvm.IRModule, lowerer: Walk, batch: str | None = None) -> tuple[tvm.IRModule, dict[str, str]]:
    """The module for the compiler, and {variable: kernel that computes it} of main.

    lowerer  makes the walk over a function, from its module and the walk that it shares kernels with
    batch    dimension that becomes 1: samples are run one after the other
    """
    main = lowerer(_for_one(inlined(mod), batch), None)
    lowered = main.run()
    functions = {"main": lowered["main"]}
    for name in part_functions(mod):
        lowered = lowerer(_for_one(function_module(mod, name), batch), main).run()
        functions[name] = lowered["main"].with_attr("global_symbol", name)
    for name, func in functions.items():
        lowered[name] = func
    return lowered, main.kernel_names


def _for_one(mod: tvm.IRModule, batch: str | None) -> tvm.IRModule:
    """The module for one sample; packed weights are codes, dequantized ones floats."""
    mod = unpacked(mod)
    return float_weights(with_sizes(mod, {batch: 1}) if batch in free_dimensions(mod) else mod)
