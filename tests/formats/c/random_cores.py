"""Random small networks with a fully integral core: what the random graphs of other tests give, quantized for C."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm

import tvmq
from tests.support.devices.c_harness import wanted_of
from tests.support.random.graphs import random_inputs, random_model
from tvmq.errors import TvmqError
from tvmq.formats.c.export_c import CExport, export_c

INTEGRAL = {
    "partition_conversions": "fully_integral",
    "integer_softmax": True,
    "integer_layer_norm": True,
    "calibrate_mode": "minmax",
    "weight_rounding": "nearest",
    "bias_correction": False,
    "outlier_channels": False,
}
# How sums become codes, and what codes are: one after the other
VARIANTS: tuple[dict[str, Any], ...] = (
    {"requantize": "fixed_point"},
    {"requantize": "fixed_point", "rounding": "TONEAREST", "scheme": "symmetric", "dtype_input": "int8"},
    {"requantize": "power_of_two", "weight_scale": "power2", "scheme": "symmetric", "dtype_input": "int8"},
    {"requantize": "fixed_point", "per_channel": False, "nbit_weight": 4},
    {"requantize": "fixed_point", "dtype_input": "int16", "nbit_input": 16},
)


def random_core(seed: int) -> tuple[tvm.IRModule, list[np.ndarray]] | None:
    """A module, and codes of one sample for its core; None where the graph has no integral form."""
    source = random_model(seed)
    data = random_inputs(source, 0, 4)
    try:
        with tvmq.qconfig(**INTEGRAL, **VARIANTS[seed % len(VARIANTS)]):
            module = tvmq.quantize(*tvmq.from_onnx(source), data, guard=None)
    except TvmqError:
        return None
    return module, tvmq.reference.run(module, data[1], function="quantize_inputs")


def written(seed: int, folder: Any) -> tuple[CExport, list[np.ndarray], list[np.ndarray]] | None:
    """The export of a random core, codes and the results that are expected."""
    found = random_core(seed)
    if found is None:
        return None
    module, codes = found
    return export_c(module, folder, name=f"net_{seed}"), codes, wanted_of(module, codes)
