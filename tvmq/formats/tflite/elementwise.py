"""Operators value by value: sums and products of two tensors, tables, bounds.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.exporting.layouts import Order
from tvmq.formats.tflite import arithmetic, tables
from tvmq.formats.tflite.codes import TfliteTensor
from tvmq.formats.tflite.pools import Average
from tvmq.formats.tflite.products import TfliteConvolution
from tvmq.formats.tflite.transposed_convolutions import TfliteConvTranspose
from tvmq.formats.tflite.writer import REMEDY, Form, TfliteWriter, Value
from tvmq.graph.view import const_value, is_const, shape_of


@dataclass(frozen=True)
class Summand:
    """Codes looked up in a table of int32: one side of a sum."""

    x: TfliteTensor
    values: np.ndarray

    def with_bias(self, writer: TfliteWriter, bias: np.ndarray) -> Summand:
        """Refuse: no operator adds a constant to one side of a sum."""
        raise writer.unsupported_error("a sum of an int32 table and a constant")

    def emit_requantize(self, writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
        """Refuse: one side alone is no sum."""
        raise writer.unsupported_error("an int32 table")


@dataclass(frozen=True)
class TensorSum:
    """Two summands: TFLite's ADD or SUB, if their tables are those that its kernels make of the scales."""

    a: Summand
    b: Summand

    def with_bias(self, writer: TfliteWriter, bias: np.ndarray) -> TensorSum:
        """Refuse: ADD and SUB take no bias."""
        raise writer.unsupported_error("a sum of two tensors and a constant")

    def emit_requantize(self, writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
        """ADD or SUB."""
        a, b = self.a.x, self.b.x
        code = self._code(writer, var, call)
        a, b, order = align_operands(writer, a, b, len(shape_of(var)))
        return writer.emit_with_activation(var, call, order, lambda result, act: writer.emit(
            code, [a, b], result, table=f"{code.title()}Options", fused_activation_function=act
        ))  # fmt: skip

    def _code(self, writer: TfliteWriter, var: relax.Var, call: relax.Call) -> str:
        """ADD or SUB, whose kernels compute these tables and this requantize."""
        multiplier, shift = (int(value) for value in writer.requantize_constants(call))
        a, b, s_y = self.a.x, self.b.x, np.float64(np.float32(writer.scales[var.name][0]))
        for code, subtract in (("ADD", False), ("SUB", True)):
            expected = numerics.summand_tables(a.scale, a.zero, b.scale, b.zero, subtract=subtract)
            constants = arithmetic.multiplier_of(np.asarray(expected.scale / s_y))
            same = np.array_equal(expected.a, self.a.values) and np.array_equal(expected.b, self.b.values)
            if same and (int(constants[0]), int(constants[1])) == (multiplier, shift):
                return code
        raise writer.unsupported_error(
            "a sum of two tensors whose constants differ from those that TFLite computes", REMEDY
        )


@dataclass(frozen=True)
class TensorProduct:
    """Products of two tensors: MUL."""

    a: TfliteTensor
    b: TfliteTensor

    def with_bias(self, writer: TfliteWriter, bias: np.ndarray) -> TensorProduct:
        """Refuse: MUL takes no bias."""
        raise writer.unsupported_error("a sum of products and a constant")

    def emit_requantize(self, writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
        """MUL; where the factor of a kernel gives another code for some product, of a scale a little off, relabelled.

        LiteRT computes the factor in float32, tflite-micro in float64. A scale some steps of float32 away from the
        result's moves both; of one that gives all codes of the module with either factor the operator's result is made,
        and a QUANTIZE, by a factor that is 1 but for some steps, hands the codes on under their own scale.
        """
        scale = self._scale(writer, var, call)
        a, b, order = align_operands(writer, self.a, self.b, len(shape_of(var)))

        def write(result: TfliteTensor, activation: int) -> TfliteTensor:
            product = writer.tensor(f"{var.name}_product", result.shape, order, scale, result.zero, result.uint8_offset)
            product = result if scale == result.scale else product
            writer.emit("MUL", [a, b], product, table="MulOptions", fused_activation_function=activation)
            if product is result:
                return result
            return writer.emit("QUANTIZE", [product], result, table="QuantizeOptions")

        return writer.emit_with_activation(var, call, order, write)

    def _scale(self, writer: TfliteWriter, var: relax.Var, call: relax.Call) -> np.float32:
        """A scale of the result with which both factors give the module's codes of all products."""
        multiplier, shift = (int(value) for value in writer.requantize_constants(call))
        zero = int(call.attrs.zero_point)
        low, high = int(call.attrs.qmin) - zero, int(call.attrs.qmax) - zero
        products = np.unique(np.multiply.outer(*(np.arange(-128, 128) - codes.zero for codes in (self.a, self.b))))
        wanted = np.clip(arithmetic.multiply(products, multiplier, shift), low, high)

        def gives(factor: np.floating) -> bool:
            codes = arithmetic.multiply(products, *arithmetic.multiplier_of(np.asarray(factor, np.float64)))
            return np.array_equal(np.clip(codes, low, high), wanted)

        own = np.float32(writer.scales[var.name][0])
        for scale in arithmetic.float32_neighbours(own):
            wide, narrow = ([kind(s) for s in (self.a.scale, self.b.scale, scale)] for kind in (np.float64, np.float32))
            if all(gives(a * b / y) for a, b, y in (wide, narrow)) and _keeps_codes(scale, own):
                return np.float32(scale)
        raise writer.unsupported_error("a product whose factor TFLite's kernels round differently")


def _keeps_codes(scale: np.float32, own: np.float32) -> bool:
    """True if codes of one scale as codes of another are the same numbers, differences from any zero point."""
    steps = np.arange(-255, 256)
    constants = arithmetic.multiplier_of(np.asarray(np.float64(scale) / np.float64(own)))
    return np.array_equal(arithmetic.multiply(steps, *constants), steps)


def align_operands(
    writer: TfliteWriter, a: TfliteTensor, b: TfliteTensor, rank: int
) -> tuple[TfliteTensor, TfliteTensor, Order]:
    """Two tensors of one rank and in one order of axes, which broadcast as those of the module do."""
    a, b = (codes if len(codes.shape) == rank else _of_rank(writer, codes, rank) for codes in (a, b))
    order = a.order if a.is_channels_last or not b.is_channels_last else b.order
    return writer.in_layout(a, order), writer.in_layout(b, order), order


def _of_rank(writer: TfliteWriter, codes: TfliteTensor, rank: int) -> TfliteTensor:
    codes = writer.to_module_order(codes)
    return writer.reshape_elements(codes, (1,) * (rank - len(codes.shape)) + codes.shape, f"{writer.layer}_widened")


def add(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> Value:
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
    a, b = (writer.codes(arg) for arg in call.args)
    zeros = int(call.attrs.a_zero) - a.uint8_offset, int(call.attrs.b_zero) - b.uint8_offset
    if zeros != (a.zero, b.zero):
        raise writer.unsupported_error("a product of differences from numbers other than the zero points")
    return TensorProduct(a, b)


def requantize(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
    """tvmq.requantize."""
    sums = writer.values[call.args[0].name]
    if not isinstance(sums, (TfliteConvolution, TfliteConvTranspose, Average, Summand, TensorSum, TensorProduct)):
        raise writer.unsupported_error("a requantize that reads codes")
    return sums.emit_requantize(writer, var, call)


def table(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> Value:
    """tvmq.table."""
    if not is_const(call.args[1]):
        raise writer.unsupported_error("tvmq.table with computed values")
    values = const_value(call.args[1])
    if values.dtype == np.int32:
        return Summand(writer.codes(call.args[0]), values)
    return tables.table(writer, var, writer.codes(call.args[0]), values)


def bound_form(code: str) -> Form:
    """maximum, minimum: of a tensor and constant codes, or of two tensors of one scale."""

    def form(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
        a, b = call.args
        if is_const(a) or is_const(b):
            codes, other = (writer.codes(a), b) if is_const(b) else (writer.codes(b), a)
            if codes.shape != shape_of(var):
                raise writer.unsupported_error(f"{code.lower()} of a constant that broadcasts the codes")
            bound = writer.constant_codes(const_value(other), codes, f"{var.name}_bound")
            sides: list[TfliteTensor | int] = [codes, bound]
            result = writer.codes_of(var, codes.order, codes)
        else:
            x, y, order = align_operands(writer, writer.codes(a), writer.codes(b), len(shape_of(var)))
            sides, result = [x, y], writer.codes_of(var, order, x)
        return writer.emit(code, sides, result, table="MaximumMinimumOptions")

    return form


def unsupported_add(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> TfliteTensor:
    """tvmq.add, whose arithmetic is not TFLite's."""
    raise writer.unsupported_error("a sum of two tensors with one shift", f"TFLite rescales both sides first: {REMEDY}")


def forward_operand(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> Value:
    """tvmq.fence: its operand, since integers need no fence."""
    return writer.values[call.args[0].name]


FORMS: dict[str, Form] = {
    "add": add,
    "tvmq.add": unsupported_add,
    "tvmq.multiply": multiply,
    "tvmq.requantize": requantize,
    "tvmq.table": table,
    "tvmq.prelu": tables.prelu,
    "tvmq.fence": forward_operand,
    "maximum": bound_form("MAXIMUM"),
    "minimum": bound_form("MINIMUM"),
}
