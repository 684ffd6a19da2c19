"""Softmax and layer norm of codes in integers alone, and the fixed-point functions that they stand on.

The functions of numerics/fixed_point.py as TIR: plain int64 arithmetic, the same on every target.

R.tvmq.integer_softmax(x): softmax of codes or accumulators in integers alone, numerics.integer_softmax.

e = 2^-(multiplier * (max(x) - x) >> shift), polynomial in Q30; reciprocal of the sum by Newton's iteration;
clip(round(e * reciprocal) + zero_point, qmin, qmax)

R.tvmq.integer_layer_norm(x, multiplier, offset): layer norm of codes in integers, numerics.integer_layer_norm.

d = n * x - sum(x), w = n * sum(x * x) - sum(x)^2 + epsilon, exactly; z = d / sqrt(w) by Newton's iteration, Q22;
clip(((z * multiplier + offset) >> shift) + zero_point, qmin, qmax). Not centred: d = n * (x - x_zero), rms norm.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.float_sums import product, unravel_index
from tvmq.graph.ops.registry import register, tensor_like
from tvmq.numerics.fixed_point import (
    EXP2_COEFFICIENTS,
    EXPONENT_BITS,
    INVERSE_SQRT_START,
    INVERSE_SQRT_STEPS,
    LARGEST_EXPONENT,
    ONE,
    RECIPROCAL_START,
    RECIPROCAL_STEPS,
)
from tvmq.numerics.integer_layer_norm import spare_bits
from tvmq.numerics.integer_softmax import SUM_SHIFTS


def i64(value: int) -> tirx.PrimExpr:
    """A constant of int64."""
    return tirx.const(int(value), "int64")


def as_int64(value: tirx.PrimExpr) -> tirx.PrimExpr:
    """The value as int64."""
    return tirx.Cast("int64", value)


def one_at(bit: tirx.PrimExpr) -> tirx.PrimExpr:
    """2^bit."""
    return i64(1) << bit


def exp2_negative(t: tirx.PrimExpr) -> tirx.PrimExpr:
    """2^-t, Q20 to Q30: numerics.fixed_point.exp2_negative; `t` is read several times."""
    n, r = t >> i64(EXPONENT_BITS), t & i64((1 << EXPONENT_BITS) - 1)
    p = i64(EXP2_COEFFICIENTS[-1])
    for coefficient in EXP2_COEFFICIENTS[-2::-1]:
        p = ((p * r) >> i64(EXPONENT_BITS)) + i64(coefficient)
    return (p + (one_at(n) >> i64(1))) >> n


def reciprocal(a: te.Tensor) -> te.Tensor:
    """1 / a, Q31 to Q30: numerics.fixed_point.reciprocal; one stage a step, since each reads the last one twice."""
    y = _line(a, RECIPROCAL_START, "reciprocal")
    for _ in range(RECIPROCAL_STEPS):
        y = _step(a, y, lambda a, y: y * (i64(2 * ONE) - ((a * y) >> i64(31))), "reciprocal")
    return y


def inverse_sqrt(a: te.Tensor) -> te.Tensor:
    """1 / sqrt(a), Q31 to Q30: numerics.fixed_point.inverse_sqrt."""
    y = _line(a, INVERSE_SQRT_START, "inverse_sqrt")
    for _ in range(INVERSE_SQRT_STEPS):
        y = _step(
            a, y, lambda a, y: y * (i64(3 * (ONE >> 1)) - ((a * ((y * y) >> i64(31))) >> i64(31))), "inverse_sqrt"
        )
    return y


def _line(a: te.Tensor, start: tuple[int, int], name: str) -> te.Tensor:
    constant, slope = map(i64, start)
    return te.compute(a.shape, lambda *i: constant - ((slope * a(*i)) >> i64(31)), name=f"{name}_start")


def _step(a: te.Tensor, y: te.Tensor, product: object, name: str) -> te.Tensor:
    assert callable(product)
    return te.compute(a.shape, lambda *i: product(a(*i), y(*i)) >> i64(30), name=f"{name}_step")


@py_class("tvmq.attrs.IntegerSoftmax", frozen=True)
class IntegerSoftmaxAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.integer_softmax; axis along which the values sum to 1."""

    multiplier: int
    shift: int
    out_multiplier: int
    out_shift: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255
    axis: int = -1


def _infer_integer_softmax(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], call.attrs.dtype)


def _legalize_integer_softmax(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs, axis = call.attrs, int(call.attrs.axis) % len(call.args[0].ty.shape)

    def compute(x: te.Tensor) -> te.Tensor:
        powers, factor, n = _stages(x, attrs, axis)

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            outer = (*i[:axis], *i[axis + 1 :])
            h = (as_int64(powers(*i)) * factor(*outer)) >> i64(31)
            code = ((h + one_at(n(*outer) - i64(1))) >> n(*outer)) + i64(attrs.zero_point)
            return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, i64(attrs.qmin)), i64(attrs.qmax)))

        return te.compute(x.shape, element, name="integer_softmax")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="integer_softmax")


def _stages(x: te.Tensor, attrs: IntegerSoftmaxAttrs, axis: int) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """e of every element in int32; factor f and shift n of every row, of `rest`, which lacks the axis."""
    shape = list(x.shape)
    rest = shape[:axis] + shape[axis + 1 :]

    def exponent(*i: tirx.Var) -> tirx.PrimExpr:
        d = as_int64(largest(*i[:axis], *i[axis + 1 :])) - as_int64(x(*i))
        t = (d * i64(attrs.multiplier) + i64(1 << (int(attrs.shift) - 1))) >> i64(attrs.shift)
        return tirx.min(t, i64(LARGEST_EXPONENT))

    k = te.reduce_axis((0, shape[axis]), name="k")
    largest = te.compute(rest, lambda *i: te.max(x(*i[:axis], k, *i[axis:]), axis=k), name="largest")
    exponents = te.compute(shape, exponent, name="exponents")
    powers = te.compute(shape, lambda *i: tirx.Cast("int32", exp2_negative(exponents(*i))), name="powers")
    j = te.reduce_axis((0, shape[axis]), name="j")
    total = te.compute(rest, lambda *i: te.sum(as_int64(powers(*i[:axis], j, *i[axis:])), axis=j), name="total")
    width = te.compute(rest, lambda *i: _width_integer_softmax(total(*i)), name="width")
    inverse = reciprocal(te.compute(rest, lambda *i: total(*i) >> width(*i), name="normalized"))
    factor = te.compute(
        rest, lambda *i: (inverse(*i) * i64(attrs.out_multiplier) + i64(1 << 30)) >> i64(31), name="factor"
    )
    return powers, factor, te.compute(rest, lambda *i: width(*i) + i64(30 - int(attrs.out_shift)), name="shift")


def _width_integer_softmax(total: tirx.PrimExpr) -> tirx.PrimExpr:
    """Number of powers 2^31, 2^32, ... that are not above the sum."""
    count = i64(0)
    for j in range(SUM_SHIFTS):
        count = count + as_int64(total >= i64(1 << (31 + j)))
    return count


# numerics.integer_softmax_params gives the multipliers and shifts
integer_softmax = register(
    "integer_softmax", ("x",), IntegerSoftmaxAttrs, _infer_integer_softmax, _legalize_integer_softmax
)


@py_class("tvmq.attrs.IntegerLayerNorm", frozen=True)
class IntegerLayerNormAttrs(tvm.ir.Attrs):
    """Attributes of R.tvmq.integer_layer_norm; the last axes that multiplier and offset have make a row."""

    epsilon: int
    shift: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255
    centred: bool = True
    x_zero: int = 0


def _infer_integer_layer_norm(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], call.attrs.dtype)


def _legalize_integer_layer_norm(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def compute(x: te.Tensor, multiplier: te.Tensor, offset: te.Tensor) -> te.Tensor:
        outer = len(x.shape) - len(multiplier.shape)
        row = [int(size) for size in multiplier.shape]
        step = _steps(x, attrs, outer, row)
        low, high = (i64(int(q) - int(attrs.zero_point)) for q in (attrs.qmin, attrs.qmax))

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            inner = i[outer:]
            code = (step(*i) * as_int64(multiplier(*inner)) + offset(*inner)) >> i64(attrs.shift)
            return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, low), high) + i64(attrs.zero_point))

        return te.compute(x.shape, element, name="integer_layer_norm")

    return bb.call_te(compute, *call.args, primfunc_name_hint="integer_layer_norm")


def _steps(x: te.Tensor, attrs: IntegerLayerNormAttrs, outer: int, row: list[int]) -> te.Tensor:
    """z of the definition, int64 of the shape of x; a row is flat inside."""
    rest, count = list(x.shape)[:outer], int(product([i64(size) for size in row]))
    spare = spare_bits(count)
    total, squares = _sums_integer_layer_norm(x, attrs, rest, row, count)

    def size(*i: tirx.Var) -> tirx.PrimExpr:
        variance = i64(count) * squares(*i)
        variance = variance - total(*i) * total(*i) if attrs.centred else variance
        return tirx.max((variance << i64(2 * spare)) + i64(attrs.epsilon), i64(1 << 2 * spare))

    w = te.compute(rest, size, name="size")
    k = te.compute(rest, lambda *i: _width_integer_layer_norm(w(*i)), name="width")
    y = inverse_sqrt(te.compute(rest, lambda *i: (w(*i) << (k(*i) * i64(2))) >> i64(31), name="size_high"))
    m = te.compute(rest, lambda *i: i64(39 - spare) - k(*i), name="step_shift")

    def step(*i: tirx.Var) -> tirx.PrimExpr:
        at, value = i[:outer], as_int64(x(*i)) - i64(0 if attrs.centred else attrs.x_zero)
        d = i64(count) * value - total(*at) if attrs.centred else i64(count) * value
        return (d * y(*at) + one_at(m(*at) - i64(1))) >> m(*at)

    return te.compute(x.shape, step, name="step")


def _sums_integer_layer_norm(
    x: te.Tensor, attrs: IntegerLayerNormAttrs, rest: list[tirx.PrimExpr], row: list[int], count: int
) -> tuple[te.Tensor, te.Tensor]:
    """Sum and sum of squares of every row, int64."""
    j, k = (te.reduce_axis((0, count), name=name) for name in "jk")
    zero = i64(0 if attrs.centred else attrs.x_zero)

    def at(i: tuple[tirx.Var, ...], position: tirx.PrimExpr) -> tirx.PrimExpr:
        return as_int64(x(*i, *unravel_index(position, [i64(size) for size in row]))) - zero

    total = te.compute(rest, lambda *i: te.sum(at(i, j), axis=j), name="total")
    squares = te.compute(rest, lambda *i: te.sum(at(i, k) * at(i, k), axis=k), name="squares")
    return total, squares


def _width_integer_layer_norm(w: tirx.PrimExpr) -> tirx.PrimExpr:
    """The largest k with w << 2k below 2^62; comparisons of w alone: steps that read each other grow when inlined."""
    k = i64(0)
    for bits in range(1, 31):
        k = k + as_int64(w < i64(1 << (62 - 2 * bits)))
    return k


# numerics.integer_layer_norm_params gives multiplier, offset, epsilon and shift
integer_layer_norm = register(
    "integer_layer_norm",
    ("x", "multiplier", "offset"),
    IntegerLayerNormAttrs,
    _infer_integer_layer_norm,
    _legalize_integer_layer_norm,
)
