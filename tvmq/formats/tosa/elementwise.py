"""Operators value by value in TOSA.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tvm import relax

from tvmq.formats.exporting.layouts import Order, code_bounds, module_order
from tvmq.formats.tosa.writer import Form, TosaTensor, TosaWriter, Value, constants_of
from tvmq.graph.view import const_value, is_const, shape_of


def align_operands(writer: TosaWriter, a: TosaTensor, b: TosaTensor, rank: int) -> tuple[TosaTensor, TosaTensor, Order]:
    """Two tensors of one rank and in one order of axes."""
    a, b = (t if len(t.shape) == rank else writer.reshape(t, (1,) * (rank - len(t.shape)) + t.shape) for t in (a, b))
    order = b.order if a.order == module_order(rank) else a.order
    return writer.in_layout(a, order), writer.in_layout(b, order), order


def result_of(writer: TosaWriter, var: relax.Var, order: Order) -> TosaTensor:
    """Tensor of a variable, without a name yet."""
    dtype = writer.dtype(var)
    return TosaTensor("", shape_of(var), order, dtype, 128 if str(var.ty.dtype) == "uint8" else 0)


def clamp_codes(writer: TosaWriter, tensor: TosaTensor, low: int, high: int) -> TosaTensor:
    """Codes within bounds."""
    limits = np.iinfo(tensor.dtype)
    if (low, high) == (limits.min, limits.max):
        return tensor
    bounds = [list(np.asarray([bound], tensor.dtype).view(np.uint8)) for bound in (low, high)]
    mode = writer.graph.schema.NanPropagationMode.PROPAGATE
    return writer.emit("CLAMP", [tensor], tensor, *[[int(b) for b in bound] for bound in bounds], mode)


def requantize(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """RESCALE, and CLAMP where bounds are closer than the type's."""
    multiplier, shift, rounding = constants_of(writer, call)
    x = writer.tensor(call.args[0])
    if multiplier.size > 1:
        axis = int(call.attrs.axis) % len(x.shape)
        if x.order[-1] != axis:
            x = writer.to_module_order(x)
        if x.order[-1] != axis:
            raise writer.unsupported_error("a requantize whose scales lie along an axis other than the last")
    result = result_of(writer, var, x.order)
    zero = int(call.attrs.zero_point) - result.uint8_offset
    codes = writer.rescale(x, result, multiplier, shift, (-x.uint8_offset, zero), rounding)
    return clamp_codes(writer, codes, *code_bounds(call, result.uint8_offset))


def _shift_and_clamp(writer: TosaWriter, total: TosaTensor, var: relax.Var, call: relax.Call) -> TosaTensor:
    """clip((total + half >> shift) + zero_point) as codes: `total` without the half that makes the shift round."""
    shift = int(call.attrs.shift)
    result = result_of(writer, var, total.order)
    zero = int(call.attrs.zero_point) - result.uint8_offset
    codes = writer.rescale(total, result, np.asarray([2**30]), np.asarray([30 + shift]), (0, zero))
    return clamp_codes(writer, codes, *code_bounds(call, result.uint8_offset))


NARROW = 10  # RESCALE by 2^-10 takes values below 2^9, as differences of 8-bit codes are


def _scale(writer: TosaWriter, x: TosaTensor, zero: int, factor: int) -> TosaTensor:
    """(x - zero) * factor as int32, exact, of int8 codes; factor is not negative."""
    result = replace(x, dtype="int32", uint8_offset=0)
    if factor << NARROW < 2**31:
        return writer.rescale(x, result, np.asarray([factor << NARROW]), np.asarray([NARROW]), (zero, 0))
    wide = writer.to_int32(x, zero)
    return writer.emit("MUL", [wide, writer.constant(np.asarray(factor), x.order), writer.number(0, "int8")], result)


def add(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """tvmq.add: both sides times their factors, their sum, one shift that rounds half up."""
    attrs, (left, right) = call.attrs, call.args
    a, b, order = align_operands(writer, writer.tensor(left), writer.tensor(right), len(shape_of(var)))
    factors = int(attrs.a_multiplier), int(attrs.b_multiplier)
    zeros = [writer.zero(arg.name, side.uint8_offset) for arg, side in zip(call.args, (a, b), strict=True)]
    if factors[0] < 0 or int(attrs.shift) < 1 or {a.dtype, b.dtype} != {"int8"}:
        raise writer.unsupported_error(
            "a sum of two tensors with a negative first factor or without a shift, or of codes that are not 8-bit,"
        )
    scaled = (_scale(writer, s, zero, abs(factor)) for s, zero, factor in zip((a, b), zeros, factors, strict=True))
    result = TosaTensor("", shape_of(var), order, "int32")
    total = writer.emit("SUB" if factors[1] < 0 else "ADD", list(scaled), result)
    rest = int(attrs.offset) - 2 ** (int(attrs.shift) - 1)
    rest += sum(f * (z + s.uint8_offset) for f, z, s in zip(factors, zeros, (a, b), strict=True))
    if rest:
        total = writer.emit("ADD", [total, writer.constant(np.asarray(rest), order)], total)
    return _shift_and_clamp(writer, total, var, call)


def multiply(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """tvmq.multiply: differences from zero points, as int32."""
    zeros = int(call.attrs.a_zero), int(call.attrs.b_zero)
    a, b, order = align_operands(writer, writer.tensor(call.args[0]), writer.tensor(call.args[1]), len(shape_of(var)))
    a, b = (writer.to_int32(side, zero - side.uint8_offset) for side, zero in zip((a, b), zeros, strict=True))
    return writer.emit("MUL", [a, b, writer.number(0, "int8")], TosaTensor("", shape_of(var), order, "int32"))


def scale_shift(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """tvmq.scale_shift: times a constant, plus a constant, one shift."""
    x, shift = writer.tensor(call.args[0]), int(call.attrs.shift)
    multiplier, offset = (const_value(arg).astype(np.int64) for arg in call.args[1:])
    if len(x.shape) != len(shape_of(var)) or shift < 1:
        raise writer.unsupported_error("a scale and shift that broadcasts the codes")
    rest = offset - 2 ** (shift - 1) + x.uint8_offset * multiplier
    if max(np.abs(rest).max(initial=0), np.abs(multiplier).max(initial=0)) >= 2**31:
        raise writer.unsupported_error("a scale and shift whose constants exceed int32")
    result = TosaTensor("", shape_of(var), x.order, "int32")
    factor = writer.constant(multiplier, x.order)
    total = writer.emit("MUL", [writer.to_int32(x, 0), factor, writer.number(0, "int8")], result)
    return _shift_and_clamp(writer, writer.emit("ADD", [total, writer.constant(rest, x.order)], result), var, call)


def table(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
    """tvmq.table: TABLE of 256 codes."""
    if not is_const(call.args[1]):
        raise writer.unsupported_error("tvmq.table with computed values")
    x, values = writer.tensor(call.args[0]), const_value(call.args[1])
    if values.dtype.name not in ("int8", "uint8"):
        raise writer.unsupported_error(f"a {values.dtype} table", "quantize with target='tosa'")
    result = result_of(writer, var, x.order)
    entries = writer.graph.constant((values.astype(np.int16) - result.uint8_offset).astype(np.int8))
    return writer.emit("TABLE", [x, entries], result)


def on_sums(code: str) -> Form:
    """add, subtract, multiply of int32."""

    def form(writer: TosaWriter, var: relax.Var, call: relax.Call) -> Value:
        a, b = call.args
        if code == "ADD" and (is_const(a) or is_const(b)):
            sums, bias = (a, b) if is_const(b) else (b, a)
            value = writer.values[sums.name]
            if not isinstance(value, TosaTensor):
                return value.with_bias(writer, const_value(bias))
        if str(var.ty.dtype) != "int32":
            raise writer.unsupported_error(f"{code} of {var.ty.dtype}")
        more = [writer.number(0, "int8")] if code == "MUL" else []
        if is_const(a) or is_const(b):
            x, other = (writer.tensor(a), const_value(b)) if is_const(b) else (writer.tensor(b), const_value(a))
            constant = writer.constant(other, x.order)
            pair: list[TosaTensor | str] = [x, constant] if is_const(b) else [constant, x]
            if x.shape != shape_of(var):
                raise writer.unsupported_error(f"{code} of a constant that broadcasts the sums")
            return writer.emit(code, [*pair, *more], x)
        x, y, order = align_operands(writer, writer.tensor(a), writer.tensor(b), len(shape_of(var)))
        return writer.emit(code, [x, y, *more], TosaTensor("", shape_of(var), order, "int32"))

    return form


def bound_form(code: str) -> Form:
    """maximum, minimum: as int32, the one integer type of TOSA's MAXIMUM and MINIMUM."""

    def form(writer: TosaWriter, var: relax.Var, call: relax.Call) -> TosaTensor:
        mode = writer.graph.schema.NanPropagationMode.PROPAGATE
        tensors = [writer.tensor(arg) for arg in call.args if not is_const(arg)]
        result = result_of(writer, var, tensors[0].order)
        if len(tensors) == 2:
            a, b, order = align_operands(writer, tensors[0], tensors[1], len(shape_of(var)))
            result = replace(result, order=order)
            sides: list[TosaTensor | str] = [s if s.dtype == "int32" else writer.to_int32(s, 0) for s in (a, b)]
        else:
            (constant,) = [const_value(arg) for arg in call.args if is_const(arg)]
            if tensors[0].shape != result.shape:
                raise writer.unsupported_error(f"{code} of a constant that broadcasts the codes")
            whole = tensors[0] if result.dtype == "int32" else writer.to_int32(tensors[0], 0)
            sides = [whole, writer.constant(constant.astype(np.int32) - result.uint8_offset, result.order)]
        extreme = writer.emit(code, sides, replace(result, dtype="int32"), mode)
        return extreme if result.dtype == "int32" else writer.emit("CAST", [extreme], result)

    return form


def forward_operand(writer: TosaWriter, var: relax.Var, call: relax.Call) -> Value:
    """tvmq.fence: its operand, since integers need no fence."""
    return writer.values[call.args[0].name]


FORMS: dict[str, Form] = {
    "tvmq.requantize": requantize,
    "tvmq.add": add,
    "tvmq.multiply": multiply,
    "tvmq.scale_shift": scale_shift,
    "tvmq.table": table,
    "tvmq.fence": forward_operand,
    "add": on_sums("ADD"),
    "subtract": on_sums("SUB"),
    "multiply": on_sums("MUL"),
    "maximum": bound_form("MAXIMUM"),
    "minimum": bound_form("MINIMUM"),
}
