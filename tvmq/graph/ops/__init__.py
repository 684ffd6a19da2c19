"""Our Relax operators, R.tvmq.*; importing this package registers them all."""

from __future__ import annotations

from tvmq.graph.ops.adaptive_sum_pool import adaptive_sum_pool
from tvmq.graph.ops.add import add
from tvmq.graph.ops.add_mask import add_mask
from tvmq.graph.ops.conv_transpose import conv_transpose
from tvmq.graph.ops.dequantize import dequantize
from tvmq.graph.ops.dynamic import dynamic_dequantize, dynamic_quantize, dynamic_scale
from tvmq.graph.ops.fence import fence
from tvmq.graph.ops.float_sum import float_sum
from tvmq.graph.ops.group_dequantize import group_dequantize
from tvmq.graph.ops.group_norm import group_norm
from tvmq.graph.ops.integer_layer_norm import integer_layer_norm
from tvmq.graph.ops.integer_softmax import integer_softmax
from tvmq.graph.ops.layer_norm import layer_norm
from tvmq.graph.ops.log_softmax import log_softmax
from tvmq.graph.ops.masked_mean import masked_mean
from tvmq.graph.ops.matmul import matmul
from tvmq.graph.ops.multiply import multiply
from tvmq.graph.ops.prelu import prelu
from tvmq.graph.ops.quantize import quantize
from tvmq.graph.ops.requantize import requantize
from tvmq.graph.ops.resample import resample
from tvmq.graph.ops.rms_norm import rms_norm
from tvmq.graph.ops.scale_shift import scale_shift
from tvmq.graph.ops.simulated_quantize import simulated_quantize
from tvmq.graph.ops.softmax import softmax
from tvmq.graph.ops.sum import sum
from tvmq.graph.ops.sum_pool import sum_pool
from tvmq.graph.ops.table import table
from tvmq.graph.ops.unpack import unpack

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
