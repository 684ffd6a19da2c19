"""The definition: every integer operator in NumPy. Compiled code, passes and exporters are tested against it, for equality.

Codes are integers; a code q stands for the real number (q - zero_point) * scale. Each function says in its docstring in which
order and in which widths it computes. One family of operators a file, function names are the operators' names.
"""

from tvmq.numerics.add import AddParams, add, add_params
from tvmq.numerics.affine import check_finite, dequantize, quantize
from tvmq.numerics.conv import conv
from tvmq.numerics.matmul import matmul
from tvmq.numerics.multiply import multiply
from tvmq.numerics.pool import average_factors, max_pool, max_pool2d, sum, sum_pool, sum_pool2d, window_counts
from tvmq.numerics.requantize import (
    fixed_point_multiply,
    fixed_point_parameters,
    float_multiplier,
    power_of_two_shift,
    requantize,
)
from tvmq.numerics.table import make_table, rescale_table, table

__all__ = [
    "AddParams",
    "add",
    "add_params",
    "average_factors",
    "check_finite",
    "conv",
    "dequantize",
    "fixed_point_multiply",
    "fixed_point_parameters",
    "float_multiplier",
    "make_table",
    "matmul",
    "max_pool",
    "max_pool2d",
    "multiply",
    "power_of_two_shift",
    "quantize",
    "requantize",
    "rescale_table",
    "sum",
    "sum_pool",
    "sum_pool2d",
    "table",
    "window_counts",
]
