"""Which share of a model's products a CPU without VNNI makes in 16 bits, and what its weights are for.

Such a CPU multiplies bytes in 16-bit lanes where the weights prove that no lane overflows, and all else in 16 bits,
exact as well and 1.4 to 1.8 times slower (docs/speed.md).

Tests: tests/tools/analysis/test_lane_products.py
"""

from __future__ import annotations

import numpy as np
import tvm
from tvm import relax

from tvmq.calibration.observers.lane_weights import weight_lines
from tvmq.codegen.kernels.conv.conv2d_int16 import WORTH
from tvmq.codegen.kernels.conv.int16_accumulation import LanePlan, plan_panels
from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import plain_module
from tvmq.graph.operators import OPERATORS
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name
from tvmq.options.config import recorded_options

EIGHT_BITS = "8 bits, for every CPU"
SEVEN_BITS = "7 bits, for CPUs without VNNI; on others no faster than 8 bits (--for portable), and less accurate"
FASTER = "there --weight-scale lanes or --for this-machine makes faster models"
LITTLE = 0.2  # of the products: less costs an AVX2 model a few percent of its time
CHANNELS, PANELS = 8, 2  # of an AVX2 vector; of each layer so many vectors are looked at
HIGHEST = 255


def share_in_16_bits(module: tvm.IRModule) -> float | None:
    """Share of the multiply-accumulates with constant int8 weights that AVX2 code makes in 16 bits, 0..1.

    Estimated from the first filters of each layer; depthwise convolutions, which have kernels of their own, are left
    out. None: the module has no such products.
    """
    total = narrow = 0.0
    for _, value in View(plain_module(module)).bindings:
        if _is_lane_product(value):
            macs = multiply_accumulates(value)
            total += macs
            narrow += macs * layer_share(const_value(value.args[1]), OPERATORS[op_name(value)].weight_axis or 0)
    return narrow / total if total else None


def _is_lane_product(value: relax.Expr) -> bool:
    record = OPERATORS.get(op_name(value) or "")
    if record is None or record.weight_axis is None or len(value.args) < 2 or not is_const(value.args[1]):
        return False
    shape = [int(side) for side in value.args[1].ty.shape]
    codes = dtype_of(value.args[0]) in ("int8", "uint8") and dtype_of(value.args[1]) == "int8"
    return codes and len(shape) > 1 and (len(shape) == 2 or shape[1] != 1)


def layer_share(weight: np.ndarray, axis: int) -> float:
    """Share of a layer's products that are made in 16 bits; 1 where lanes would not be faster.

    weight  int8 (filters, channels, *kernel), or a matrix
    axis    of the output channels

    >>> layer_share(np.full((8, 64, 1, 1), 127, np.int8), 0), layer_share(np.full((8, 64, 1, 1), 63, np.int8), 0)
    (1.0, 0.0)
    """
    lines = weight_lines(weight, axis)[: CHANNELS * PANELS]
    lines = np.pad(lines, ((0, -len(lines) % CHANNELS), (0, 0), (0, 0)))
    panels = lines.reshape(-1, CHANNELS, *lines.shape[1:]).transpose(0, 2, 3, 1)
    plan = LanePlan(plan_panels(panels, HIGHEST), lines.shape[1] * lines.shape[2])
    return 1.0 if plan.cost > WORTH else plan.int16_share


def describe_weights(module: tvm.IRModule) -> str:
    """Text that says which CPUs the weights of an integer module are for; "" where arithmetic is in float."""
    options = recorded_options(get_ledger(module).config)
    share = share_in_16_bits(module)
    if share is None or options.activations is None:
        return ""
    if options.reduce_range:
        return SEVEN_BITS
    text = f"{EIGHT_BITS}; CPUs without VNNI make {share:.0%} of the products in 16 bits"
    return text if share < LITTLE else f"{text}, which is slower: {FASTER}"
