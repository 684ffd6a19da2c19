"""The integral core that formats without floats take: one function of fixed sizes.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

import tvm

from tvmq.errors import ModelError, StageError
from tvmq.graph.functions import function_module, is_partitioned, plain_module, unpack_weights
from tvmq.graph.ledger import get_ledger
from tvmq.graph.symbolic import dynamic_dimensions


def core_of(qmod: tvm.IRModule, caller: str, target: str) -> tvm.IRModule:
    """A module whose main is quantized_main, weights unpacked.

    caller, target   begin the message, and what to quantize for
    raises           StageError for what is no module in four functions, ModelError for a dynamic size
    """
    if not isinstance(qmod, tvm.IRModule):
        raise StageError(f"{caller}: takes the module that tvmq.quantize gives. Got {type(qmod).__name__} instead")
    qmod = plain_module(qmod)
    if not is_partitioned(qmod):
        stage = get_ledger(qmod).stage
        raise StageError(
            f"{caller}: the module is '{stage}' and in one function; quantize with target='{target}' and "
            "qconfig(partition_conversions='fully_integral')"
        )
    core = unpack_weights(function_module(qmod, "quantized_main"))
    for name, (param, axis) in dynamic_dimensions(core).items():
        raise ModelError(
            f"{caller}: axis {axis} of input '{param}' has the dynamic size '{name}'; a file has fixed sizes, give it "
            "one with from_onnx(..., shape=...)"
        )
    return core
