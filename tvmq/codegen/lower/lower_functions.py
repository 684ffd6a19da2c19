"""All functions of a module to calls of kernels, which they share.

main is lowered as if it did everything itself, so that nothing is lost at the borders of the core (no transposes of
the layout, no conversions apart from what they are fused with); the three functions that it would call stand beside
it, and code for common sizes of dynamic dimensions.

Sizes that a model of dynamic dimensions has code of its own for, beside the code that takes any size.

    tvmq.build(qmod, sizes={"batch": [1, 8], "sequence": [64, 128]})

gives main as it was and main_1 .. main_4, one for each combination: functions of fixed sizes, with all kernels and
choices that these have, that share constants and kernels wherever they are equal.

Tests: tests/codegen/lower/test_common_sizes.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import tvm
from tvm import relax

from tvmq.codegen.custom_lowering.selection import Mismatch
from tvmq.codegen.lower.int4_weights import find_int4_weights, float_weights
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.main_calls import CallOrigin
from tvmq.errors import ConfigError
from tvmq.graph.module_functions import function_module, inline_functions, part_functions, unpack_weights
from tvmq.graph.symbolic import dynamic_dimensions, with_sizes
from tvmq.passes.fold_constants import fold_constants
from tvmq.runtime.inputs import describe_refusal

Sizes = Mapping[str, int | Sequence[int]]
MOST = 32  # functions; each is compiled by itself


def divide_sizes(sizes: Sizes | None) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """(dimensions that become numbers, common sizes of those that stay dynamic).

    raises  ConfigError for an empty list

    >>> divide_sizes({"batch": 1, "sequence": [64, 128]})
    ({'batch': 1}, {'sequence': (64, 128)})
    """
    fixed: dict[str, Any] = {}
    common: dict[str, tuple[int, ...]] = {}
    for name, value in (sizes or {}).items():
        if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str):
            fixed[name] = value
        elif len(value) == 0:
            raise ConfigError(f"sizes: '{name}' has an empty list; name a size or leave '{name}' out")
        else:
            common[name] = tuple(dict.fromkeys(value))
    return fixed, common


def combinations(
    mod: tvm.IRModule, common: Mapping[str, Sequence[int]], batch: str | None, limits: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, int], ...]:
    """Combinations of common sizes that get code of their own, largest first.

    batch    dimension whose samples are run one after the other; one sample needs no code of its own but beside
             common sizes of other dimensions
    limits   {dynamic dimension: {"least", "most", "why", "multiple"}}
    raises   ConfigError for a name that is no dynamic dimension, a size that the model does not take, or too many
    """
    if not common:
        return ()
    for name, sizes in common.items():
        for size in sizes:
            with_sizes(mod, {name: size})
            check_limit(name, size, limits.get(name))
    axes = {name: sorted(sizes, reverse=True) for name, sizes in common.items()}
    if batch is not None:
        axes[batch] = sorted({*axes.get(batch, ()), 1}, reverse=True)
    combos = [dict(zip(axes, sizes, strict=True)) for sizes in product(*axes.values())]
    combos = [sizes for sizes in combos if sizes != {batch: 1}]
    if len(combos) > MOST:
        raise ConfigError(f"sizes: {len(combos)} combinations of common sizes, at most {MOST} are compiled; name fewer")
    return tuple(combos)


def check_limit(name: str, size: int, limit: Mapping[str, Any] | None) -> None:
    """ConfigError for a size that the model does not take."""
    refusal = describe_refusal(limit, size)
    if refusal:
        raise ConfigError(f"sizes: '{name}' cannot be {size}, {refusal}")


def of_sizes(mod: tvm.IRModule, sizes: Mapping[str, int]) -> tvm.IRModule:
    """The module, in one function, for these sizes."""
    fixed = with_sizes(inline_functions(mod), sizes)
    # inputs without these sizes would be the same variables, and stand in two functions
    fixed["main"] = relax.utils.copy_with_new_vars(fixed["main"])
    return fold_constants(fixed)  # a slice of a table that ends at the size, say


def function_name(number: int) -> str:
    """Name of the function for a combination, counted from 0.

    >>> function_name(0)
    'main_1'
    """
    return f"main_{number + 1}"


Walk = Callable[[tvm.IRModule, "Lowerer | None"], Lowerer]


class LoweredModule(NamedTuple):
    """The module for the compiler; of main {variable: kernel that computes it}, what it says, and what it is for."""

    module: tvm.IRModule
    kernel_names: dict[str, str]
    kernel_notes: dict[str, str]
    origins: dict[str, CallOrigin]
    common: dict[str, dict[str, CallOrigin]]  # the same of the functions for common sizes, by their names
    lowered_calls: Sequence[dict[str, Any]] = ()  # calls of main that lowerings of the user's have made
    matches: Mapping[str, Any] = MappingProxyType({})  # {variable: lowering and operators}
    mismatches: Sequence[Mismatch] = ()  # and what they do not take
    generated: Mapping[str, Any] = MappingProxyType({})  # {symbol: function} of all that code generators are for


def lower_functions(
    mod: tvm.IRModule, lowerer: Walk, batch: str | None = None, common: Sequence[Mapping[str, int]] = ()
) -> LoweredModule:
    """All functions as calls of kernels.

    lowerer  makes the walk over a function, from its module and the walk that it shares kernels with
    batch    dimension that becomes 1: samples are run one after the other
    common   {dynamic dimension: size} that main is also compiled for, each as a function of its own
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
    matches = {name: own.hit for name, own in main.custom_calls.items()}
    own = main.lowered_calls, matches, main.mismatches, main.generated
    return LoweredModule(lowered, main.kernel_names, main.kernel_notes, main.origins, origins, *own)


def _walk(lowerer: Walk, mod: tvm.IRModule, batch: str | None, shared: Lowerer | None) -> Lowerer:
    """The walk over a function of one sample; weights are constants, but for tables, of which rows are unpacked."""
    kept = unpack_weights(mod, tables=False)
    kept = with_sizes(kept, {batch: 1}) if batch in dynamic_dimensions(kept) else kept
    walk = lowerer(float_weights(kept), shared)
    walk.int4_weights = find_int4_weights(kept)
    return walk
