"""The definition: every integer operator in NumPy.

Compiled code, passes and exporters are tested against it, for equality. Codes are integers; a code q means
the real number (q - zero_point) * scale. Each docstring says in which order and in which widths a function
computes. One family of operators a file; functions bear the operators' names.
"""

from tvmq.numerics.add import (
    AddParams,
    SummandTables,
    add,
    add_params,
    summand_tables,
)
from tvmq.numerics.add_mask import add_mask, mask_steps
from tvmq.numerics.affine import (
    check_finite,
    dequantize,
    dynamic_dequantize,
    dynamic_quantize,
    dynamic_scale,
    group_dequantize,
    quantize,
    quantize_bias,
)
from tvmq.numerics.codes import PACKED_BITS, fits_int4, pack_int4, unpack_int4
from tvmq.numerics.conv import conv
from tvmq.numerics.conv_transpose import conv_transpose, filters_first
from tvmq.numerics.fixed_point import cast, divide, place
from tvmq.numerics.float_sum import float_sum
from tvmq.numerics.gemm import matmul
from tvmq.numerics.group_matmul import group_matmul, group_offset_matmul
from tvmq.numerics.integer_layer_norm import LayerNormParams, integer_layer_norm, integer_layer_norm_params
from tvmq.numerics.integer_softmax import SoftmaxParams, integer_softmax, integer_softmax_params
from tvmq.numerics.layer_norm import group_norm, instance_norm, layer_norm, rms_norm
from tvmq.numerics.masked_mean import masked_mean
from tvmq.numerics.multiply import multiply
from tvmq.numerics.narrow_float_types import round_floats
from tvmq.numerics.pool import (
    adaptive_bounds,
    adaptive_counts,
    adaptive_sum_pool,
    average_factors,
    max_pool,
    max_pool2d,
    sum,
    sum_pool,
    window_counts,
)
from tvmq.numerics.proof import (
    accumulator_bound,
    check_accumulator,
    check_product_accumulator,
    largest_depth,
    multiplier_fits,
)
from tvmq.numerics.recurrent import recurrent, recurrent_codes
from tvmq.numerics.requantize import fixed_point_multiply, requantize
from tvmq.numerics.requantize_factors import (
    fixed_point_constants,
    fixed_point_parameters,
    float_multiplier,
    power_of_two_shift,
    real_factor,
    requantize_constants,
)
from tvmq.numerics.requantize_rule import rule_of_mode
from tvmq.numerics.scale_shift import prelu, prelu_params, scale_shift, scale_shift_params
from tvmq.numerics.softmax import log_softmax, softmax
from tvmq.numerics.sum_limits import most_of_weights, nearest_weights, sum_of_weights
from tvmq.numerics.table import compare_table, make_table, real_values, rescale_table, table
from tvmq.numerics.tensor_scatter import tensor_scatter
from tvmq.numerics.windows import resample

__all__ = [
    "PACKED_BITS",
    "AddParams",
    "LayerNormParams",
    "SoftmaxParams",
    "SummandTables",
    "accumulator_bound",
    "adaptive_bounds",
    "adaptive_counts",
    "adaptive_sum_pool",
    "add",
    "add_mask",
    "add_params",
    "average_factors",
    "cast",
    "check_accumulator",
    "check_finite",
    "check_product_accumulator",
    "largest_depth",
    "compare_table",
    "conv",
    "conv_transpose",
    "dequantize",
    "divide",
    "dynamic_dequantize",
    "dynamic_quantize",
    "dynamic_scale",
    "filters_first",
    "fits_int4",
    "fixed_point_constants",
    "fixed_point_multiply",
    "fixed_point_parameters",
    "float_multiplier",
    "float_sum",
    "group_dequantize",
    "group_matmul",
    "group_norm",
    "group_offset_matmul",
    "instance_norm",
    "integer_layer_norm",
    "integer_layer_norm_params",
    "integer_softmax",
    "integer_softmax_params",
    "layer_norm",
    "log_softmax",
    "make_table",
    "mask_steps",
    "masked_mean",
    "matmul",
    "max_pool",
    "max_pool2d",
    "most_of_weights",
    "multiplier_fits",
    "multiply",
    "nearest_weights",
    "pack_int4",
    "place",
    "power_of_two_shift",
    "prelu",
    "prelu_params",
    "quantize",
    "quantize_bias",
    "real_factor",
    "real_values",
    "recurrent",
    "recurrent_codes",
    "requantize",
    "requantize_constants",
    "resample",
    "rescale_table",
    "rms_norm",
    "round_floats",
    "rule_of_mode",
    "scale_shift",
    "scale_shift_params",
    "softmax",
    "sum",
    "sum_of_weights",
    "sum_pool",
    "summand_tables",
    "table",
    "tensor_scatter",
    "unpack_int4",
    "window_counts",
]
