"""Relay's passes over tvmq's own: prerequisite_optimize, partition, annotate, realize.

    relay.quantize             tvmq.passes
    prerequisite_optimize      prepare, fold_constants
    partition()                partition
    annotate()                 annotate, unify_scales
    calibrate(dataset)         round_biases, calibrate (see _calibrate.py)
    realize()                  realize, fold_constants, pack_weights

Each gives a pass of TVM, callable on a module and usable in tvm.transform.Sequential; it reads `current_qconfig()` when
it runs, and gives a module of the kind that it takes. The modules between them print as text and parse back.

relay.quantize.partition_conversions: conversions at the border split off the integer core.

Tests: tests/relay/quantize/test_quantize.py
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import tvm

import tvmq
from tvmq.errors import IntegralError, ModelError
from tvmq.extension import integrality, stage_of
from tvmq.passes.annotate import annotate as annotate_groups
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.pack_weights import pack_weights
from tvmq.passes.partition import partition as partition_groups
from tvmq.passes.partition_conversions import partition_conversions as split
from tvmq.passes.prepare import prepare
from tvmq.passes.realize import realize as realize_groups
from tvmq.passes.unify_scales import unify_scales
from tvmq.relay import module
from tvmq.relay.expr import Expr, Function
from tvmq.relay.module import match_view, module_pass
from tvmq.relay.quantize.qconfig import current_qconfig
from tvmq.relay.quantize.translate import float_rules, to_tvmq

Step = Callable[[tvm.IRModule], tvm.IRModule]


def prerequisite_optimize(mod: Any, params: Mapping[str, Any] | None = None) -> tvm.IRModule:
    """The float module that is quantized: parameters bound, batch norm and constants folded.

    mod      a module of Relay's names or of Relax, or a function; the result is of the same kind
    params   {parameter: array}; names that the module does not have are ignored, as Relay did
    returns  a new module; the caller's stays as it is, and no opt_level around changes what is done
    raises   ModelError, a ValueError as of old, for a name in params that two parameters have
    """
    floats = plain_module(mod)
    return match_view(mod, fold_constants(prepare(*tvmq.from_relax(floats, _select_params(floats, params or {})))))


def partition() -> Any:
    """The pass that decides which layers become integers; the ledger of its module has the reasons."""
    return _as_pass(partition_module, "QuantizePartition")


def annotate() -> Any:
    """The pass that puts simulated_quantize in front of what will hold codes."""
    return _as_pass(annotate_module, "QuantizeAnnotate")


def realize() -> Any:
    """The pass that makes integers of a calibrated module."""
    return _as_pass(realize_module, "QuantizeRealize")


def partition_module(mod: tvm.IRModule) -> tvm.IRModule:
    """See `partition`; a module that nothing prepared is prepared first."""
    mod = plain_module(mod)
    if stage_of(mod) != "prepared":
        mod = prerequisite_optimize(mod)
    config = current_qconfig()
    return partition_groups(mod, to_tvmq(config, float_rules(mod, config)))


def annotate_module(mod: tvm.IRModule) -> tvm.IRModule:
    """See `annotate`; a module that nothing partitioned is partitioned first."""
    mod = plain_module(mod)
    if stage_of(mod) in ("imported", "prepared"):
        mod = partition_module(mod)
    return unify_scales(annotate_groups(mod))


def realize_module(mod: tvm.IRModule) -> tvm.IRModule:
    """Realize the groups of a module with its weights, fold constants and pack the weights."""
    return pack_weights(fold_constants(realize_groups(plain_module(mod))))


def plain_module(mod: Any) -> tvm.IRModule:
    """A module of Relax of what scripts hand over: a module, Relay's view of one, a function, an expression.

    raises  ModelError for anything else
    """
    unwrapped = next((one for one in (mod, getattr(mod, "mod", None)) if isinstance(one, tvm.IRModule)), mod)
    if isinstance(unwrapped, tvm.IRModule | Expr | Function):
        return module.as_relax(unwrapped)
    if isinstance(unwrapped, tvm.relax.Function):
        return tvm.IRModule({"main": unwrapped.with_attr("global_symbol", "main")})
    raise ModelError(
        f"relay.quantize: a module must be an IRModule or a function. Got {type(mod).__name__} instead; "
        "relay.testing.create_workload and the front ends give modules"
    )


def _select_params(mod: tvm.IRModule, params: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The parameters that the module has, as arrays."""
    functions = [func for _, func in mod.functions_items() if isinstance(func, tvm.relax.Function)]
    names = [param.name for func in functions for param in func.params]
    twice = [name for name in params if len(functions) == 1 and names.count(name) > 1]
    if twice:
        raise ModelError(
            f"relay.quantize: Multiple args in the function have name {twice[0]}; give each variable its own"
        )
    values = {name: params[name] for name in params if name in names}
    return {name: np.asarray(value.numpy() if hasattr(value, "numpy") else value) for name, value in values.items()}


def _as_pass(step: Step, name: str) -> Any:
    @module_pass(opt_level=0, name=name)
    def run(mod: tvm.IRModule, _context: Any) -> tvm.IRModule:
        return step(mod)

    return run


class NotIntegral(IntegralError, AssertionError):
    """A core that was to be integers only has floats; an AssertionError as of old, which had no message."""


def partition_conversions(
    mod: tvm.IRModule, quantized_dtypes: Collection[str] = (), ensure_fully_integral: bool = False
) -> tvm.IRModule:
    """The realized module as quantize_inputs, quantized_main, dequantize_outputs and a main that calls them.

    quantized_dtypes  ignored: the codes of a module are known
    raises            NotIntegral, with a line for each float operator, where ensure_fully_integral finds one
    """
    split_from = plain_module(mod)
    verdict = integrality(split_from)
    if ensure_fully_integral and not verdict.is_integral:
        raise NotIntegral(
            f"relay.quantize: {verdict}; 'fully_integral' allows no float:\n  " + "\n  ".join(verdict.reasons())
        )
    return match_view(mod, split(split_from))
