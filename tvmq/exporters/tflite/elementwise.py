"""Operators value by value: sums and products of two tensors, tables, bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.exporters.layouts import Order
from tvmq.exporters.tflite import arithmetic, tables
from tvmq.exporters.tflite.codes import Codes
from tvmq.exporters.tflite.pools import Average
from tvmq.exporters.tflite.products import Convolution
from tvmq.exporters.tflite.transposed import ConvTranspose
from tvmq.exporters.tflite.walk import REMEDY, Form, Value, Walk
from tvmq.graph.view import const_value, is_const, shape_of


@dataclass(frozen=True)
class Summand:
    """Codes looked up in a table of int32: one side of a sum."""

    x: Codes
    values: np.ndarray

    def plus(self, walk: Walk, bias: np.ndarray) -> Summand:
        """Refuse: no operator adds a constant to one side of a sum."""
        raise walk.refused("a sum of a table of int32 and a constant")

    def requantized(self, walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
        """Refuse: one side alone is no sum."""
        raise walk.refused("a table of int32")


@dataclass(frozen=True)
class Total:
    """Two summands: TFLite's ADD or SUB, if their tables are those that its kernels make of the scales."""

    a: Summand
    b: Summand

    def plus(self, walk: Walk, bias: np.ndarray) -> Total:
        """Refuse: ADD and SUB take no bias."""
        raise walk.refused("a sum of two tensors and a constant")

    def requantized(self, walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
        """ADD or SUB."""
        a, b = self.a.x, self.b.x
        code = self._code(walk, var, call)
        a, b, order = align_operands(walk, a, b, len(shape_of(var)))
        return walk.written(var, call, order, lambda result, act: walk.emit(
            code, [a, b], result, table=f"{code.title()}Options", fused_activation_function=act
        ))  # fmt: skip

    def _code(self, walk: Walk, var: relax.Var, call: relax.Call) -> str:
        """ADD or SUB, whose kernels compute these tables and this requantize."""
        multiplier, shift = (int(value) for value in walk.requantize_constants(call))
        a, b, s_y = self.a.x, self.b.x, np.float64(np.float32(walk.scales[var.name][0]))
        for code, subtract in (("ADD", False), ("SUB", True)):
            expected = numerics.summand_tables(a.scale, a.zero, b.scale, b.zero, subtract=subtract)
            constants = arithmetic.multiplier_of(np.asarray(expected.scale / s_y))
            same = np.array_equal(expected.a, self.a.values) and np.array_equal(expected.b, self.b.values)
            if same and (int(constants[0]), int(constants[1])) == (multiplier, shift):
                return code
        raise walk.refused("a sum of two tensors with other constants than TFLite makes", REMEDY)


@dataclass(frozen=True)
class Pair:
    """Products of two tensors: MUL."""

    a: Codes
    b: Codes

    def plus(self, walk: Walk, bias: np.ndarray) -> Pair:
        """Refuse: MUL takes no bias."""
        raise walk.refused("a sum of products and a constant")

    def requantized(self, walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
        """MUL; where the factor of a kernel gives another code for some product, of a scale a little off, relabelled.

        LiteRT computes the factor in float32, tflite-micro in float64. A scale some steps of float32 away from the
        result's moves both; of one that gives all codes of the module with either factor the operator's result is made,
        and a QUANTIZE, by a factor that is 1 but for some steps, hands the codes on under their own scale.
        """
        scale = self._scale(walk, var, call)
        a, b, order = align_operands(walk, self.a, self.b, len(shape_of(var)))

        def write(result: Codes, activation: int) -> Codes:
            product = walk.tensor(f"{var.name}_product", result.shape, order, scale, result.zero, result.moved)
            product = result if scale == result.scale else product
            walk.emit("MUL", [a, b], product, table="MulOptions", fused_activation_function=activation)
            if product is result:
                return result
            return walk.emit("QUANTIZE", [product], result, table="QuantizeOptions")

        return walk.written(var, call, order, write)

    def _scale(self, walk: Walk, var: relax.Var, call: relax.Call) -> np.float32:
        """A scale of the result with which both factors give the module's codes of all products."""
        multiplier, shift = (int(value) for value in walk.requantize_constants(call))
        zero = int(call.attrs.zero_point)
        low, high = int(call.attrs.qmin) - zero, int(call.attrs.qmax) - zero
        products = np.unique(np.multiply.outer(*(np.arange(-128, 128) - codes.zero for codes in (self.a, self.b))))
        wanted = np.clip(arithmetic.multiply(products, multiplier, shift), low, high)

        def gives(factor: np.floating) -> bool:
            codes = arithmetic.multiply(products, *arithmetic.multiplier_of(np.asarray(factor, np.float64)))
            return np.array_equal(np.clip(codes, low, high), wanted)

        own = np.float32(walk.scales[var.name][0])
        for scale in arithmetic.float32_neighbours(own):
            wide, narrow = ([kind(s) for s in (self.a.scale, self.b.scale, scale)] for kind in (np.float64, np.float32))
            if all(gives(a * b / y) for a, b, y in (wide, narrow)) and _hands_on(scale, own):
                return np.float32(scale)
        raise walk.refused("a product whose factor TFLite's kernels round otherwise")


def _hands_on(scale: np.float32, own: np.float32) -> bool:
    """True if codes of one scale as codes of another are the same numbers, differences from any zero point."""
    steps = np.arange(-255, 256)
    constants = arithmetic.multiplier_of(np.asarray(np.float64(scale) / np.float64(own)))
    return np.array_equal(arithmetic.multiply(steps, *constants), steps)


def align_operands(walk: Walk, a: Codes, b: Codes, rank: int) -> tuple[Codes, Codes, Order]:
    """Two tensors of one rank and in one order of axes, which broadcast as those of the module do."""
    a, b = (codes if len(codes.shape) == rank else _of_rank(walk, codes, rank) for codes in (a, b))
    order = a.order if a.is_last or not b.is_last else b.order
    return walk.in_layout(a, order), walk.in_layout(b, order), order


def _of_rank(walk: Walk, codes: Codes, rank: int) -> Codes:
    codes = walk.plain(codes)
    return walk.reshaped(codes, (1,) * (rank - len(codes.shape)) + codes.shape, f"{walk.layer}_widened")


def add(walk: Walk, var: relax.Var, call: relax.Call) -> Value:
    """add of int32: a bias, or two summands."""
    a, b = call.args
    if is_const(b) or is_const(a):
        sums, bias = (a, b) if is_const(b) else (b, a)
        return walk.values[sums.name].plus(walk, const_value(bias))
    summands = walk.values[a.name], walk.values[b.name]
    if not all(isinstance(side, Summand) for side in summands):
        raise walk.refused("a sum of int32 sums")
    return Total(*summands)


def multiply(walk: Walk, var: relax.Var, call: relax.Call) -> Pair:
    """tvmq.multiply."""
    a, b = (walk.codes(arg) for arg in call.args)
    zeros = int(call.attrs.a_zero) - a.moved, int(call.attrs.b_zero) - b.moved
    if zeros != (a.zero, b.zero):
        raise walk.refused("a product of codes less other numbers than their zero points")
    return Pair(a, b)


def requantize(walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
    """tvmq.requantize."""
    sums = walk.values[call.args[0].name]
    if not isinstance(sums, (Convolution, ConvTranspose, Average, Summand, Total, Pair)):
        raise walk.refused("a requantize of codes")
    return sums.requantized(walk, var, call)


def table(walk: Walk, var: relax.Var, call: relax.Call) -> Value:
    """tvmq.table."""
    if not is_const(call.args[1]):
        raise walk.refused("tvmq.table of values that are computed")
    values = const_value(call.args[1])
    if values.dtype == np.int32:
        return Summand(walk.codes(call.args[0]), values)
    return tables.table(walk, var, walk.codes(call.args[0]), values)


def bound_form(code: str) -> Form:
    """maximum, minimum: of a tensor and constant codes, or of two tensors of one scale."""

    def form(walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
        a, b = call.args
        if is_const(a) or is_const(b):
            codes, other = (walk.codes(a), b) if is_const(b) else (walk.codes(b), a)
            if codes.shape != shape_of(var):
                raise walk.refused(f"{code.lower()} of a constant that broadcasts the codes")
            sides: list[Codes | int] = [codes, walk.constant_codes(const_value(other), codes, f"{var.name}_bound")]
            result = walk.codes_of(var, codes.order, codes)
        else:
            x, y, order = align_operands(walk, walk.codes(a), walk.codes(b), len(shape_of(var)))
            sides, result = [x, y], walk.codes_of(var, order, x)
        return walk.emit(code, sides, result, table="MaximumMinimumOptions")

    return form


def unsupported_add(walk: Walk, var: relax.Var, call: relax.Call) -> Codes:
    """tvmq.add, whose arithmetic is not TFLite's."""
    raise walk.refused("a sum of two tensors by one shift", f"TFLite rescales both sides first: {REMEDY}")


def forward_operand(walk: Walk, var: relax.Var, call: relax.Call) -> Value:
    """tvmq.fence: its operand, since integers need no fence."""
    return walk.values[call.args[0].name]


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
