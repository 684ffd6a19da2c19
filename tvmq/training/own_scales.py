"""Models that are quantized already: training begins with their scales, and their codes."""

from __future__ import annotations

import tvm

from tvmq.errors import UnsupportedOpError
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.view import View, dtype_of
from tvmq.numerics.code_type import CODES_16
from tvmq.passes.import_qdq import import_qdq
from tvmq.quantization.static_quantization import StaticQuantization


def with_adopted_scales(quantization: StaticQuantization) -> tvm.IRModule:
    """The calibrated module of a model with quantize and dequantize operators; no data are read.

    Biases that float32 does not hold to the last bit (beyond 2^22 steps) become the nearest float32 numbers, to learn.

    raises  UnsupportedOpError for inputs and outputs of codes: gradients need floats there
    """
    view = View(quantization.prepared)
    ends = {**view.params, **{name: view.var[name] for name in view.outputs if name in view.var}}
    for name, var in ends.items():
        if dtype_of(var) in CODES_16:
            raise UnsupportedOpError(
                f"training: '{name}' is an input or a result of codes ({dtype_of(var)}), and gradients need floats "
                "there; train the model with its conversions"
            )
    calibrated = import_qdq(quantization.prepared, quantization.config, quantization.backend)
    ledger = get_ledger(calibrated)
    for entry in ledger.layers.values():
        if (entry.get("facts") or {}).get("bias_codes") is not None:
            entry["facts"]["bias_codes"] = None
    return with_ledger(calibrated, ledger)
