"""Cases for each mode, axis and type of our Relax operators: a call, adversarial arguments, the numerics' result."""

from __future__ import annotations

from tests.graph.conversion_op_cases import (
    dequantize_cases,
    dynamic_cases,
    quantize_cases,
    requantize_cases,
    round_floats_cases,
    simulated_cases,
)
from tests.graph.elementwise_op_cases import constant_cases, table_cases, two_input_cases, wide_cases
from tests.graph.float_op_cases import float_cases, integer_float_cases
from tests.graph.op_case import Case
from tests.graph.product_op_cases import (
    conv_transpose_cases,
    matmul_cases,
    resample_cases,
    sum_cases,
    tensor_scatter_cases,
    unpack_cases,
)

CASES: dict[str, Case] = {
    case.name: case
    for group in (
        quantize_cases, dequantize_cases, requantize_cases, round_floats_cases, two_input_cases, constant_cases, wide_cases, matmul_cases,
        table_cases, unpack_cases, sum_cases, conv_transpose_cases, resample_cases, tensor_scatter_cases, dynamic_cases,
        float_cases, integer_float_cases, simulated_cases,
    )
    for case in group()
}
