"""Operators value by value: sums and products of two tensors, tables, bounds.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import CoreTensor, Extreme, Pending
from tvmq.formats.exporting.core_forms import constant_table
from tvmq.formats.tflite import arithmetic, pools, products, tables
from tvmq.formats.tflite.writer import REMEDY, TfliteWriter
from tvmq.graph.view import const_value, is_const, shape_of


@dataclass(frozen=True)
class Summand(Pending):
    """Codes looked up in a table of int32: one side of a sum."""

    no_bias = "a sum of an int32 table and a constant"
    x: CoreTensor
    values: np.ndarray


@dataclass(frozen=True)
class TensorSum(Pending):
    """Two summands."""

    no_bias = "a sum of two tensors and a constant"
    a: Summand
    b: Summand


@dataclass(frozen=True)
class TensorProduct(Pending):
    """Products of the differences of two tensors from their zero points."""

    no_bias = "a sum of products and a constant"
    a: CoreTensor
    b: CoreTensor


def print_summand(writer: TfliteWriter, node: Summand, var: relax.Var, call: relax.Call) -> CoreTensor:
    """Refuse: a sum has two sides."""
    raise writer.unsupported_error("an int32 table")


def print_sum(writer: TfliteWriter, node: TensorSum, var: relax.Var, call: relax.Call) -> CoreTensor:
    """ADD or SUB, if their kernels make these tables and this requantize of the scales."""
    code = _sum_code(writer, node, var, call)
    a, b, order = writer.align_operands(node.a.x, node.b.x, len(shape_of(var)))
    return writer.emit_with_activation(var, call, order, lambda result, activation: writer.emit(
        code, [a, b], result, table=f"{code.title()}Options", fused_activation_function=activation
    ))  # fmt: skip


def _sum_code(writer: TfliteWriter, node: TensorSum, var: relax.Var, call: relax.Call) -> str:
    multiplier, shift = (int(value) for value in writer.requantize_constants(call))
    a, b, s_y = node.a.x, node.b.x, np.float64(np.float32(writer.scales[var.name][0]))
    for code, subtract in (("ADD", False), ("SUB", True)):
        expected = numerics.summand_tables(a.scale, a.zero, b.scale, b.zero, subtract=subtract)
        constants = arithmetic.multiplier_of(np.asarray(expected.scale / s_y))
        same = np.array_equal(expected.a, node.a.values) and np.array_equal(expected.b, node.b.values)
        if same and (int(constants[0]), int(constants[1])) == (multiplier, shift):
            return code
    raise writer.unsupported_error(
        "a sum of two tensors whose constants differ from those that TFLite computes", REMEDY
    )


def print_product(writer: TfliteWriter, node: TensorProduct, var: relax.Var, call: relax.Call) -> CoreTensor:
    """MUL; where the factor of a kernel gives another code for some product, of a scale a little off, relabelled.

    LiteRT computes the factor in float32, tflite-micro in float64. A scale some steps of float32 away from the
    result's moves both; of one that gives all codes of the module with either factor the operator's result is made,
    and a QUANTIZE, by a factor that is 1 but for some steps, hands the codes on under their own scale.
    """
    scale = _product_scale(writer, node, var, call)
    a, b, order = writer.align_operands(node.a, node.b, len(shape_of(var)))

    def write(result: CoreTensor, activation: int) -> CoreTensor:
        scaled = replace(result, scale=scale)
        product = writer.tensor_like(scaled, result.shape, order, f"{var.name}_product")
        product = result if scale == result.scale else product
        writer.emit("MUL", [a, b], product, table="MulOptions", fused_activation_function=activation)
        return result if product is result else writer.emit("QUANTIZE", [product], result, table="QuantizeOptions")

    return writer.emit_with_activation(var, call, order, write)


def _product_scale(writer: TfliteWriter, node: TensorProduct, var: relax.Var, call: relax.Call) -> np.float32:
    """A scale of the result with which both factors give the module's codes of all products."""
    multiplier, shift = (int(value) for value in writer.requantize_constants(call))
    zero = int(call.attrs.zero_point)
    low, high = int(call.attrs.qmin) - zero, int(call.attrs.qmax) - zero
    products = np.unique(np.multiply.outer(*(np.arange(-128, 128) - codes.zero for codes in (node.a, node.b))))
    wanted = np.clip(arithmetic.multiply(products, multiplier, shift), low, high)

    def gives(factor: np.floating) -> bool:
        codes = arithmetic.multiply(products, *arithmetic.multiplier_of(np.asarray(factor, np.float64)))
        return np.array_equal(np.clip(codes, low, high), wanted)

    own = np.float32(writer.scales[var.name][0])
    for scale in arithmetic.float32_neighbours(own):
        wide, narrow = ([kind(s) for s in (node.a.scale, node.b.scale, scale)] for kind in (np.float64, np.float32))
        if all(gives(a * b / y) for a, b, y in (wide, narrow)) and _keeps_codes(scale, own):
            return np.float32(scale)
    raise writer.unsupported_error("a product whose factor TFLite's kernels round differently")


def _keeps_codes(scale: np.float32, own: np.float32) -> bool:
    """True if codes of one scale as codes of another are the same numbers, differences from any zero point."""
    steps = np.arange(-255, 256)
    constants = arithmetic.multiplier_of(np.asarray(np.float64(scale) / np.float64(own)))
    return np.array_equal(arithmetic.multiply(steps, *constants), steps)


def add(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> Pending:
    """add of int32: a bias, or two summands."""
    a, b = call.args
    if is_const(b) or is_const(a):
        sums, bias = (a, b) if is_const(b) else (b, a)
        return writer.values[sums.name].with_bias(writer, const_value(bias))
    summands = writer.values[a.name], writer.values[b.name]
    if not all(isinstance(side, Summand) for side in summands):
        raise writer.unsupported_error("a sum of int32 sums")
    return TensorSum(*summands)


def multiply(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TensorProduct:
    """tvmq.multiply."""
    a, b = (writer.tensor(arg) for arg in call.args)
    zeros = int(call.attrs.a_zero) - a.uint8_offset, int(call.attrs.b_zero) - b.uint8_offset
    if zeros != (a.zero, b.zero):
        raise writer.unsupported_error("a product of differences from numbers other than the zero points")
    return TensorProduct(a, b)


def requantize(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """tvmq.requantize, with the sums that it reads."""
    sums = writer.values[call.args[0].name]
    if type(sums) not in SUMS:
        raise writer.unsupported_error("a requantize that reads codes")
    return SUMS[type(sums)](writer, sums, var, call)


def table(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> CoreTensor | Summand:
    """tvmq.table."""
    x, values = writer.tensor(call.args[0]), constant_table(writer, call)
    return Summand(x, values) if values.dtype == np.int32 else tables.table(writer, var, x, values)


def unsupported_add(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """tvmq.add, whose arithmetic is not TFLite's."""
    raise writer.unsupported_error("a sum of two tensors with one shift", f"TFLite rescales both sides first: {REMEDY}")


def print_extreme(writer: TfliteWriter, node: Extreme, var: relax.Var) -> CoreTensor:
    """MAXIMUM or MINIMUM."""
    x, other = node.x, node.other
    side = writer.constant_codes(other, x, f"{var.name}_bound") if isinstance(other, np.ndarray) else other
    return writer.emit(node.code, [x, side], writer.codes_of(var, x.order, x), table="MaximumMinimumOptions")


FORMS: Table = {
    "add": add,
    "tvmq.add": unsupported_add,
    "tvmq.multiply": multiply,
    "tvmq.requantize": requantize,
    "tvmq.table": table,
    "tvmq.prelu": tables.prelu,
}
SUMS: Table = {
    **products.SUMS,
    **pools.SUMS,
    Summand: print_summand,
    TensorSum: print_sum,
    TensorProduct: print_product,
}
PRINTERS: Table = {Extreme: print_extreme}
