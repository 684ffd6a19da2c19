"""relay.quantize.quantize: from a float module to an integer one, with Relay's options.

prerequisite_optimize -> partition -> annotate -> calibrate -> realize -> partition_conversions
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tvm

from tvmq.relay.module import match_view
from tvmq.relay.quantize._calibrate import calibrate, calibrate_module
from tvmq.relay.quantize.context import (
    QuantizeContext,
    quantize_context,
    register_annotate_function,
    register_partition_function,
)
from tvmq.relay.quantize.qconfig import QAnnotateKind, QConfig, check, current_qconfig, kind2str, qconfig
from tvmq.relay.quantize.stages import (
    annotate,
    annotate_module,
    partition,
    partition_conversions,
    partition_module,
    prerequisite_optimize,
    realize,
    realize_module,
)


def quantize(
    mod: Any, params: Mapping[str, Any] | None = None, dataset: Iterable[Mapping[str, Any]] | None = None
) -> tvm.IRModule:
    """The integer module of a float one, with the options of `current_qconfig()`.

    mod      a module of Relay's names or of Relax; it stays as it is, and the result is of the same kind
    params   {parameter: array}; names that the module does not have are ignored
    dataset  batches {input: array} for the modes kl_divergence and percentile
    returns  a module of one function, or of four where partition_conversions asks for it; with do_simulation one that
             computes in float with the rounding of the integers. tvmq.explain tells what stayed float, and why
    raises   ConfigError, the ValueError of old, for words that mean nothing; CalibrationError where data are missing;
             NotIntegral, an AssertionError, for a core that was to have no floats
    """
    config = current_qconfig()
    check(config)
    quantized = calibrate_module(annotate_module(partition_module(prerequisite_optimize(mod, params))), dataset)
    if config.do_simulation:
        return match_view(mod, quantized)
    quantized = realize_module(quantized)
    if config.partition_conversions != "disabled":
        dtypes = {config.dtype_input, config.dtype_weight, config.dtype_activation}
        quantized = partition_conversions(quantized, dtypes, config.partition_conversions == "fully_integral")
    return match_view(mod, quantized)


__all__ = [
    "QAnnotateKind",
    "QConfig",
    "QuantizeContext",
    "annotate",
    "calibrate",
    "current_qconfig",
    "kind2str",
    "partition",
    "partition_conversions",
    "prerequisite_optimize",
    "qconfig",
    "quantize",
    "quantize_context",
    "realize",
    "register_annotate_function",
    "register_partition_function",
]
