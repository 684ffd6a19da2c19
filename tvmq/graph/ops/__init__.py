"""Our Relax operators, R.tvmq.*; importing this package registers them all."""

from __future__ import annotations

from tvmq.graph.ops.arithmetic import add, add_mask, multiply
from tvmq.graph.ops.conversions import dequantize, quantize, requantize, simulated_quantize
from tvmq.graph.ops.dynamic import dynamic_dequantize, dynamic_quantize, dynamic_scale
from tvmq.graph.ops.float_sums import float_sum
from tvmq.graph.ops.integer_norms import integer_layer_norm, integer_softmax
from tvmq.graph.ops.norms import group_norm, layer_norm, rms_norm
from tvmq.graph.ops.packed_weights import group_dequantize, group_matmul, unpack
from tvmq.graph.ops.pools import adaptive_sum_pool, resample, sum_pool
from tvmq.graph.ops.products import conv_transpose, matmul
from tvmq.graph.ops.recurrent import recurrent, recurrent_codes
from tvmq.graph.ops.reductions import masked_mean, sum
from tvmq.graph.ops.softmax import log_softmax, softmax
from tvmq.graph.ops.value_functions import fence, prelu, scale_shift, table

__all__ = [
    "adaptive_sum_pool",
    "add",
    "add_mask",
    "conv_transpose",
    "dequantize",
    "dynamic_dequantize",
    "dynamic_quantize",
    "dynamic_scale",
    "fence",
    "float_sum",
    "group_dequantize",
    "group_matmul",
    "group_norm",
    "integer_layer_norm",
    "integer_softmax",
    "layer_norm",
    "log_softmax",
    "masked_mean",
    "matmul",
    "multiply",
    "prelu",
    "quantize",
    "recurrent",
    "recurrent_codes",
    "requantize",
    "resample",
    "rms_norm",
    "scale_shift",
    "simulated_quantize",
    "softmax",
    "sum",
    "sum_pool",
    "table",
    "unpack",
]
