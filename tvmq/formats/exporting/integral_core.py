"""The integral core that formats without floats take: one function of fixed sizes.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

import tvm

from tvmq.errors import ModelError, StageError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import function_module, is_partitioned, plain_module, unpack_weights
from tvmq.graph.symbolic import dynamic_dimensions

INTEGRAL = "quantize with target='{}' and qconfig(partition_conversions='fully_integral')"


def extract_core(qmod: tvm.IRModule, caller: str, remedy: str) -> tvm.IRModule:
    """Module whose main is quantized_main, with weights unpacked.

    caller   name of the exporter, for messages
    remedy   how to quantize for it
    raises   StageError unless it is a module in four functions, ModelError for a dynamic size
    """
    if not isinstance(qmod, tvm.IRModule):
        raise StageError(f"{caller}: expects the module that tvmq.quantize returns. Got {type(qmod).__name__} instead")
    qmod = plain_module(qmod)
    if not is_partitioned(qmod):
        stage = get_ledger(qmod).stage
        raise StageError(f"{caller}: the module is '{stage}' and in one function; {remedy}")
    core = unpack_weights(function_module(qmod, "quantized_main"))
    for size, (param, axis) in dynamic_dimensions(core).items():
        raise ModelError(
            f"{caller}: axis {axis} of input '{param}' has the dynamic size '{size}'; an exported core needs fixed "
            "sizes: set it with from_onnx(..., shape=...)"
        )
    return core
