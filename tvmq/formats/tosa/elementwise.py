"""Operators value by value in TOSA.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import CoreTensor, Extreme
from tvmq.formats.exporting.core_forms import constant_table
from tvmq.formats.exporting.layouts import code_bounds, module_order
from tvmq.formats.tosa.writer import TosaWriter, constants_of
from tvmq.graph.view import const_value, is_const, shape_of
from tvmq.numerics.code_type import CODES_8


def clamp_codes(writer: TosaWriter, tensor: CoreTensor, low: int, high: int) -> CoreTensor:
    """Codes within bounds."""
    limits = np.iinfo(tensor.dtype)
    if (low, high) == (limits.min, limits.max):
        return tensor
    bounds = [list(np.asarray([bound], tensor.dtype).view(np.uint8)) for bound in (low, high)]
    mode = writer.graph.schema.NanPropagationMode.PROPAGATE
    return writer.emit("CLAMP", [tensor], tensor, *[[int(b) for b in bound] for bound in bounds], mode)


def requantize(writer: TosaWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """RESCALE, and CLAMP where bounds are closer than the type's."""
    multiplier, shift, rounding = constants_of(writer, call)
    x = writer.tensor(call.args[0])
    if multiplier.size > 1:
        axis = int(call.attrs.axis) % len(x.shape)
        if x.order[-1] != axis:
            x = writer.in_layout(x, module_order(len(x.shape)))
        if x.order[-1] != axis:
            raise writer.unsupported_error("a requantize whose scales lie along an axis other than the last")
    result = writer.result_of(var, x.order)
    zero = int(call.attrs.zero_point) - result.uint8_offset
    codes = writer.rescale(x, result, multiplier, shift, (-x.uint8_offset, zero), rounding)
    return clamp_codes(writer, codes, *code_bounds(call, result.uint8_offset))


def _shift_and_clamp(writer: TosaWriter, total: CoreTensor, var: relax.Var, call: relax.Call) -> CoreTensor:
    """clip((total + half >> shift) + zero_point) as codes: `total` without the half that makes the shift round."""
    shift = int(call.attrs.shift)
    result = writer.result_of(var, total.order)
    zero = int(call.attrs.zero_point) - result.uint8_offset
    codes = writer.rescale(total, result, np.asarray([2**30]), np.asarray([30 + shift]), (0, zero))
    return clamp_codes(writer, codes, *code_bounds(call, result.uint8_offset))


NARROW = 10  # RESCALE by 2^-10 takes values below 2^9, as differences of 8-bit codes are


def _scale(writer: TosaWriter, x: CoreTensor, zero: int, factor: int) -> CoreTensor:
    """(x - zero) * factor as int32, exact, of int8 codes; factor is not negative."""
    result = replace(x, dtype="int32", uint8_offset=0)
    if factor << NARROW < 2**31:
        return writer.rescale(x, result, np.asarray([factor << NARROW]), np.asarray([NARROW]), (zero, 0))
    wide = writer.to_int32(x, zero)
    return writer.emit("MUL", [wide, writer.constant(np.asarray(factor), x.order), writer.number(0, "int8")], result)


def add(writer: TosaWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """tvmq.add: both sides times their factors, their sum, one shift that rounds half up."""
    attrs, (left, right) = call.attrs, call.args
    a, b, order = writer.align_operands(writer.tensor(left), writer.tensor(right), len(shape_of(var)))
    factors = int(attrs.a_multiplier), int(attrs.b_multiplier)
    zeros = [writer.zero(arg.name, side.uint8_offset) for arg, side in zip(call.args, (a, b), strict=True)]
    if factors[0] < 0 or int(attrs.shift) < 1 or {a.dtype, b.dtype} != {"int8"}:
        raise writer.unsupported_error(
            "a sum of two tensors with a negative first factor or without a shift, or of codes that are not 8-bit,"
        )
    scaled = (_scale(writer, s, zero, abs(factor)) for s, zero, factor in zip((a, b), zeros, factors, strict=True))
    result = CoreTensor("", shape_of(var), order, "int32")
    total = writer.emit("SUB" if factors[1] < 0 else "ADD", list(scaled), result)
    rest = int(attrs.offset) - 2 ** (int(attrs.shift) - 1)
    rest += sum(f * (z + s.uint8_offset) for f, z, s in zip(factors, zeros, (a, b), strict=True))
    if rest:
        total = writer.emit("ADD", [total, writer.constant(np.asarray(rest), order)], total)
    return _shift_and_clamp(writer, total, var, call)


def multiply(writer: TosaWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """tvmq.multiply: differences from zero points, as int32."""
    zeros = int(call.attrs.a_zero), int(call.attrs.b_zero)
    a, b, order = writer.align_operands(writer.tensor(call.args[0]), writer.tensor(call.args[1]), len(shape_of(var)))
    a, b = (writer.to_int32(side, zero - side.uint8_offset) for side, zero in zip((a, b), zeros, strict=True))
    return writer.emit("MUL", [a, b, writer.number(0, "int8")], CoreTensor("", shape_of(var), order, "int32"))


def scale_shift(writer: TosaWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """tvmq.scale_shift: times a constant, plus a constant, one shift."""
    x, shift = writer.tensor(call.args[0]), int(call.attrs.shift)
    multiplier, offset = (const_value(arg).astype(np.int64) for arg in call.args[1:])
    if len(x.shape) != len(shape_of(var)) or shift < 1:
        raise writer.unsupported_error("a scale and shift that broadcasts the codes")
    rest = offset - 2 ** (shift - 1) + x.uint8_offset * multiplier
    if max(np.abs(rest).max(initial=0), np.abs(multiplier).max(initial=0)) >= 2**31:
        raise writer.unsupported_error("a scale and shift whose constants exceed int32")
    result = CoreTensor("", shape_of(var), x.order, "int32")
    factor = writer.constant(multiplier, x.order)
    total = writer.emit("MUL", [writer.to_int32(x, 0), factor, writer.number(0, "int8")], result)
    return _shift_and_clamp(writer, writer.emit("ADD", [total, writer.constant(rest, x.order)], result), var, call)


def table(writer: TosaWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """tvmq.table: TABLE of 256 codes."""
    x, values = writer.tensor(call.args[0]), constant_table(writer, call)
    if values.dtype.name not in CODES_8:
        raise writer.unsupported_error(f"a {values.dtype} table", "quantize with target='tosa'")
    result = writer.result_of(var, x.order)
    entries = writer.graph.constant((values.astype(np.int16) - result.uint8_offset).astype(np.int8))
    return writer.emit("TABLE", [x, entries], result)


def on_sums(code: str) -> Callable[..., Any]:
    """add, subtract, multiply of int32."""

    def form(writer: TosaWriter, var: relax.Var, call: relax.Call) -> Any:
        a, b = call.args
        if code == "ADD" and (is_const(a) or is_const(b)):
            sums, bias = (a, b) if is_const(b) else (b, a)
            value = writer.values[sums.name]
            if not isinstance(value, CoreTensor):
                return value.with_bias(writer, const_value(bias))
        if str(var.ty.dtype) != "int32":
            raise writer.unsupported_error(f"{code} of {var.ty.dtype}")
        more = [writer.number(0, "int8")] if code == "MUL" else []
        if is_const(a) or is_const(b):
            x, other = (writer.tensor(a), const_value(b)) if is_const(b) else (writer.tensor(b), const_value(a))
            constant = writer.constant(other, x.order)
            pair: list[CoreTensor | str] = [x, constant] if is_const(b) else [constant, x]
            if x.shape != shape_of(var):
                raise writer.unsupported_error(f"{code} of a constant that broadcasts the sums")
            return writer.emit(code, [*pair, *more], x)
        x, y, order = writer.align_operands(writer.tensor(a), writer.tensor(b), len(shape_of(var)))
        return writer.emit(code, [x, y, *more], CoreTensor("", shape_of(var), order, "int32"))

    return form


def print_extreme(writer: TosaWriter, node: Extreme, var: relax.Var) -> CoreTensor:
    """MAXIMUM, MINIMUM: as int32, the one integer type that TOSA has them for."""
    result, other = writer.result_of(var, node.x.order), node.other
    sides: list[CoreTensor | str] = [
        side if side.dtype == "int32" else writer.to_int32(side, 0)
        for side in (node.x, other)
        if isinstance(side, CoreTensor)
    ]
    if isinstance(other, np.ndarray):
        sides.append(writer.constant(other.astype(np.int32) - result.uint8_offset, result.order))
    mode = writer.graph.schema.NanPropagationMode.PROPAGATE
    extreme = writer.emit(node.code, sides, replace(result, dtype="int32"), mode)
    return extreme if result.dtype == "int32" else writer.emit("CAST", [extreme], result)


FORMS: Table = {
    "tvmq.requantize": requantize,
    "tvmq.add": add,
    "tvmq.multiply": multiply,
    "tvmq.scale_shift": scale_shift,
    "tvmq.table": table,
    "add": on_sums("ADD"),
    "subtract": on_sums("SUB"),
    "multiply": on_sums("MUL"),
}
PRINTERS: Table = {Extreme: print_extreme}
