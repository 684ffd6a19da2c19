"""R.tvmq.integer_layer_norm(x, multiplier, offset): layer norm of codes in integers, numerics.integer_layer_norm.

d = n * x - sum(x), w = n * sum(x * x) - sum(x)^2 + epsilon, exactly; z = d / sqrt(w) by Newton's iteration, Q22;
clip(((z * multiplier + offset) >> shift) + zero_point, qmin, qmax). Not centred: d = n * (x - x_zero), rms norm.
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.fixed_point import i64, inverse_sqrt, one_at, wide
from tvmq.graph.ops.layer_norm import product, unravelled
from tvmq.graph.ops.registry import register, tensor_like
from tvmq.numerics.integer_layer_norm import spare_bits


@py_class("tvmq.attrs.IntegerLayerNorm", frozen=True)
class IntegerLayerNormAttrs(tvm.ir.Attrs):
    """See the head of this file; the last axes that multiplier and offset have make a row."""

    epsilon: int
    shift: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255
    centred: bool = True
    x_zero: int = 0


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], call.attrs.dtype)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs = call.attrs

    def compute(x: te.Tensor, multiplier: te.Tensor, offset: te.Tensor) -> te.Tensor:
        outer = len(x.shape) - len(multiplier.shape)
        row = [int(size) for size in multiplier.shape]
        step = _steps(x, attrs, outer, row)
        low, high = (i64(int(q) - int(attrs.zero_point)) for q in (attrs.qmin, attrs.qmax))

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            inner = i[outer:]
            code = (step(*i) * wide(multiplier(*inner)) + offset(*inner)) >> i64(attrs.shift)
            return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, low), high) + i64(attrs.zero_point))

        return te.compute(x.shape, element, name="integer_layer_norm")

    return bb.call_te(compute, *call.args, primfunc_name_hint="integer_layer_norm")


def _steps(x: te.Tensor, attrs: IntegerLayerNormAttrs, outer: int, row: list[int]) -> te.Tensor:
    """z of the definition, int64 of the shape of x; a row is flat inside."""
    rest, count = list(x.shape)[:outer], int(product([i64(size) for size in row]))
    spare = spare_bits(count)
    total, squares = _sums(x, attrs, rest, row, count)

    def size(*i: tirx.Var) -> tirx.PrimExpr:
        variance = i64(count) * squares(*i)
        variance = variance - total(*i) * total(*i) if attrs.centred else variance
        return tirx.max((variance << i64(2 * spare)) + i64(attrs.epsilon), i64(1 << 2 * spare))

    w = te.compute(rest, size, name="size")
    k = te.compute(rest, lambda *i: _width(w(*i)), name="width")
    y = inverse_sqrt(te.compute(rest, lambda *i: (w(*i) << (k(*i) * i64(2))) >> i64(31), name="size_high"))
    m = te.compute(rest, lambda *i: i64(39 - spare) - k(*i), name="step_shift")

    def step(*i: tirx.Var) -> tirx.PrimExpr:
        at, value = i[:outer], wide(x(*i)) - i64(0 if attrs.centred else attrs.x_zero)
        d = i64(count) * value - total(*at) if attrs.centred else i64(count) * value
        return (d * y(*at) + one_at(m(*at) - i64(1))) >> m(*at)

    return te.compute(x.shape, step, name="step")


def _sums(
    x: te.Tensor, attrs: IntegerLayerNormAttrs, rest: list[tirx.PrimExpr], row: list[int], count: int
) -> tuple[te.Tensor, te.Tensor]:
    """Sum and sum of squares of every row, int64."""
    j, k = (te.reduce_axis((0, count), name=name) for name in "jk")
    zero = i64(0 if attrs.centred else attrs.x_zero)

    def at(i: tuple[tirx.Var, ...], position: tirx.PrimExpr) -> tirx.PrimExpr:
        return wide(x(*i, *unravelled(position, [i64(size) for size in row]))) - zero

    total = te.compute(rest, lambda *i: te.sum(at(i, j), axis=j), name="total")
    squares = te.compute(rest, lambda *i: te.sum(at(i, k) * at(i, k), axis=k), name="squares")
    return total, squares


def _width(w: tirx.PrimExpr) -> tirx.PrimExpr:
    """The largest k with w << 2k below 2^62; comparisons of w alone: steps that read each other grow when inlined."""
    k = i64(0)
    for bits in range(1, 31):
        k = k + wide(w < i64(1 << (62 - 2 * bits)))
    return k


# numerics.integer_layer_norm_params gives multiplier, offset, epsilon and shift
integer_layer_norm = register(
    "integer_layer_norm", ("x", "multiplier", "offset"), IntegerLayerNormAttrs, _infer, _legalize
)
