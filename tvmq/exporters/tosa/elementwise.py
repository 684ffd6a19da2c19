"""Operators value by value in TOSA."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tvm import relax

from tvmq.exporters.layouts import Order, plain
from tvmq.exporters.tosa.walk import Form, Tensor, Value, Walk, constants_of
from tvmq.graph.view import const_value, is_const, shape_of


def align_operands(walk: Walk, a: Tensor, b: Tensor, rank: int) -> tuple[Tensor, Tensor, Order]:
    """Two tensors of one rank and in one order of axes."""
    a, b = (t if len(t.shape) == rank else walk.viewed(t, (1,) * (rank - len(t.shape)) + t.shape) for t in (a, b))
    order = b.order if a.order == plain(rank) else a.order
    return walk.in_layout(a, order), walk.in_layout(b, order), order


def result_of(walk: Walk, var: relax.Var, order: Order) -> Tensor:
    """Tensor of a variable, without a name yet."""
    dtype = walk.dtype(var)
    return Tensor("", shape_of(var), order, dtype, 128 if str(var.ty.dtype) == "uint8" else 0)


def clamp_codes(walk: Walk, tensor: Tensor, low: int, high: int) -> Tensor:
    """Codes within bounds."""
    limits = np.iinfo(tensor.dtype)
    if (low, high) == (limits.min, limits.max):
        return tensor
    bounds = [list(np.asarray([bound], tensor.dtype).view(np.uint8)) for bound in (low, high)]
    mode = walk.graph.schema.NanPropagationMode.PROPAGATE
    return walk.emit("CLAMP", [tensor], tensor, *[[int(b) for b in bound] for bound in bounds], mode)


def requantize(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
    """RESCALE, and CLAMP where bounds are closer than the type's."""
    multiplier, shift, rounding = constants_of(walk, call)
    x = walk.tensor(call.args[0])
    if multiplier.size > 1:
        axis = int(call.attrs.axis) % len(x.shape)
        if x.order[-1] != axis:
            x = walk.plain(x)
        if x.order[-1] != axis:
            raise walk.refused("a requantize with scales along another axis than the last")
    result = result_of(walk, var, x.order)
    zero = int(call.attrs.zero_point) - result.moved
    codes = walk.rescale(x, result, multiplier, shift, (-x.moved, zero), rounding)
    return clamp_codes(walk, codes, int(call.attrs.qmin) - result.moved, int(call.attrs.qmax) - result.moved)


def _shift_and_clamp(walk: Walk, total: Tensor, var: relax.Var, call: relax.Call) -> Tensor:
    """clip((total + half >> shift) + zero_point) as codes: `total` without the half that makes the shift round."""
    shift = int(call.attrs.shift)
    result = result_of(walk, var, total.order)
    zero = int(call.attrs.zero_point) - result.moved
    codes = walk.rescale(total, result, np.asarray([2**30]), np.asarray([30 + shift]), (0, zero))
    return clamp_codes(walk, codes, int(call.attrs.qmin) - result.moved, int(call.attrs.qmax) - result.moved)


NARROW = 10  # RESCALE by 2^-10 takes values below 2^9, as differences of 8-bit codes are


def _scale(walk: Walk, x: Tensor, zero: int, factor: int) -> Tensor:
    """(x - zero) * factor as int32, exact, of int8 codes; factor is not negative."""
    result = replace(x, dtype="int32", moved=0)
    if factor << NARROW < 2**31:
        return walk.rescale(x, result, np.asarray([factor << NARROW]), np.asarray([NARROW]), (zero, 0))
    wide = walk.to_int32(x, zero)
    return walk.emit("MUL", [wide, walk.constant(np.asarray(factor), x.order), walk.number(0, "int8")], result)


def add(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
    """tvmq.add: both sides times their factors, their sum, one shift that rounds half up."""
    attrs, (left, right) = call.attrs, call.args
    a, b, order = align_operands(walk, walk.tensor(left), walk.tensor(right), len(shape_of(var)))
    factors = int(attrs.a_multiplier), int(attrs.b_multiplier)
    zeros = [walk.zero(arg.name, side.moved) for arg, side in zip(call.args, (a, b), strict=True)]
    if factors[0] < 0 or int(attrs.shift) < 1 or {a.dtype, b.dtype} != {"int8"}:
        raise walk.refused("a sum of two tensors with such constants")
    scaled = (_scale(walk, side, zero, abs(factor)) for side, zero, factor in zip((a, b), zeros, factors, strict=True))
    result = Tensor("", shape_of(var), order, "int32")
    total = walk.emit("SUB" if factors[1] < 0 else "ADD", list(scaled), result)
    rest = int(attrs.offset) - 2 ** (int(attrs.shift) - 1)
    rest += sum(f * (z + s.moved) for f, z, s in zip(factors, zeros, (a, b), strict=True))
    if rest:
        total = walk.emit("ADD", [total, walk.constant(np.asarray(rest), order)], total)
    return _shift_and_clamp(walk, total, var, call)


def multiply(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
    """tvmq.multiply: differences from zero points, as int32."""
    zeros = int(call.attrs.a_zero), int(call.attrs.b_zero)
    a, b, order = align_operands(walk, walk.tensor(call.args[0]), walk.tensor(call.args[1]), len(shape_of(var)))
    a, b = (walk.to_int32(side, zero - side.moved) for side, zero in zip((a, b), zeros, strict=True))
    return walk.emit("MUL", [a, b, walk.number(0, "int8")], Tensor("", shape_of(var), order, "int32"))


def scale_shift(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
    """tvmq.scale_shift: times a constant, plus a constant, one shift."""
    x, shift = walk.tensor(call.args[0]), int(call.attrs.shift)
    multiplier, offset = (const_value(arg).astype(np.int64) for arg in call.args[1:])
    if len(x.shape) != len(shape_of(var)) or shift < 1:
        raise walk.refused("scale and shift that broadcast the codes")
    rest = offset - 2 ** (shift - 1) + x.moved * multiplier
    if max(np.abs(rest).max(initial=0), np.abs(multiplier).max(initial=0)) >= 2**31:
        raise walk.refused("scale and shift beyond int32")
    product: list[Tensor | str] = [walk.to_int32(x, 0), walk.constant(multiplier, x.order), walk.number(0, "int8")]
    result = Tensor("", shape_of(var), x.order, "int32")
    total = walk.emit("MUL", product, result)
    return _shift_and_clamp(walk, walk.emit("ADD", [total, walk.constant(rest, x.order)], result), var, call)


def table(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
    """tvmq.table: TABLE of 256 codes."""
    if not is_const(call.args[1]):
        raise walk.refused("tvmq.table of values that are computed")
    x, values = walk.tensor(call.args[0]), const_value(call.args[1])
    if values.dtype.name not in ("int8", "uint8"):
        raise walk.refused(f"a table of {values.dtype}", "quantize with target='tosa'")
    result = result_of(walk, var, x.order)
    entries = walk.graph.constant((values.astype(np.int16) - result.moved).astype(np.int8))
    return walk.emit("TABLE", [x, entries], result)


def on_sums(code: str) -> Form:
    """add, subtract, multiply of int32."""

    def form(walk: Walk, var: relax.Var, call: relax.Call) -> Value:
        a, b = call.args
        if code == "ADD" and (is_const(a) or is_const(b)):
            sums, bias = (a, b) if is_const(b) else (b, a)
            value = walk.values[sums.name]
            if not isinstance(value, Tensor):
                return value.plus(walk, const_value(bias))
        if str(var.ty.dtype) != "int32":
            raise walk.refused(f"{code} of {var.ty.dtype}")
        more = [walk.number(0, "int8")] if code == "MUL" else []
        if is_const(a) or is_const(b):
            x, other = (walk.tensor(a), const_value(b)) if is_const(b) else (walk.tensor(b), const_value(a))
            constant = walk.constant(other, x.order)
            pair: list[Tensor | str] = [x, constant] if is_const(b) else [constant, x]
            if x.shape != shape_of(var):
                raise walk.refused(f"{code} of a constant that broadcasts the sums")
            return walk.emit(code, [*pair, *more], x)
        x, y, order = align_operands(walk, walk.tensor(a), walk.tensor(b), len(shape_of(var)))
        return walk.emit(code, [x, y, *more], Tensor("", shape_of(var), order, "int32"))

    return form


def bound_form(code: str) -> Form:
    """maximum, minimum: as int32, the one integer type of TOSA's MAXIMUM and MINIMUM."""

    def form(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
        mode = walk.graph.schema.NanPropagationMode.PROPAGATE
        tensors = [walk.tensor(arg) for arg in call.args if not is_const(arg)]
        result = result_of(walk, var, tensors[0].order)
        if len(tensors) == 2:
            a, b, order = align_operands(walk, tensors[0], tensors[1], len(shape_of(var)))
            result = replace(result, order=order)
            sides: list[Tensor | str] = [side if side.dtype == "int32" else walk.to_int32(side, 0) for side in (a, b)]
        else:
            (constant,) = [const_value(arg) for arg in call.args if is_const(arg)]
            if tensors[0].shape != result.shape:
                raise walk.refused(f"{code} of a constant that broadcasts the codes")
            whole = tensors[0] if result.dtype == "int32" else walk.to_int32(tensors[0], 0)
            sides = [whole, walk.constant(constant.astype(np.int32) - result.moved, result.order)]
        extreme = walk.emit(code, sides, replace(result, dtype="int32"), mode)
        return extreme if result.dtype == "int32" else walk.emit("CAST", [extreme], result)

    return form


def forward_operand(walk: Walk, var: relax.Var, call: relax.Call) -> Value:
    """tvmq.fence: its operand, since integers need no fence."""
    return walk.values[call.args[0].name]


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
