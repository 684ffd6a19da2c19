"""R.tvmq.integer_softmax(x): softmax of codes or accumulators in integers alone, numerics.integer_softmax.

e = 2^-(multiplier * (max(x) - x) >> shift), polynomial in Q30; reciprocal of the sum by Newton's iteration;
clip(round(e * reciprocal) + zero_point, qmin, qmax)
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.fixed_point import exp2_negative, i64, one_at, reciprocal, wide
from tvmq.graph.ops.registry import register, tensor_like
from tvmq.numerics.fixed_point import LARGEST_EXPONENT
from tvmq.numerics.integer_softmax import SUM_SHIFTS


@py_class("tvmq.attrs.IntegerSoftmax", frozen=True)
class IntegerSoftmaxAttrs(tvm.ir.Attrs):
    """See the head of this file; axis along which the values sum to 1."""

    multiplier: int
    shift: int
    out_multiplier: int
    out_shift: int
    zero_point: int
    dtype: str = "uint8"
    qmin: int = 0
    qmax: int = 255
    axis: int = -1


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return tensor_like(call.args[0], call.attrs.dtype)


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    attrs, axis = call.attrs, int(call.attrs.axis) % len(call.args[0].ty.shape)

    def compute(x: te.Tensor) -> te.Tensor:
        powers, factor, n = _stages(x, attrs, axis)

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            outer = (*i[:axis], *i[axis + 1 :])
            h = (wide(powers(*i)) * factor(*outer)) >> i64(31)
            code = ((h + one_at(n(*outer) - i64(1))) >> n(*outer)) + i64(attrs.zero_point)
            return tirx.Cast(attrs.dtype, tirx.min(tirx.max(code, i64(attrs.qmin)), i64(attrs.qmax)))

        return te.compute(x.shape, element, name="integer_softmax")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="integer_softmax")


def _stages(x: te.Tensor, attrs: IntegerSoftmaxAttrs, axis: int) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """e of every element in int32; factor f and shift n of every row, of `rest`, which lacks the axis."""
    shape = list(x.shape)
    rest = shape[:axis] + shape[axis + 1 :]

    def exponent(*i: tirx.Var) -> tirx.PrimExpr:
        d = wide(largest(*i[:axis], *i[axis + 1 :])) - wide(x(*i))
        t = (d * i64(attrs.multiplier) + i64(1 << (int(attrs.shift) - 1))) >> i64(attrs.shift)
        return tirx.min(t, i64(LARGEST_EXPONENT))

    k = te.reduce_axis((0, shape[axis]), name="k")
    largest = te.compute(rest, lambda *i: te.max(x(*i[:axis], k, *i[axis:]), axis=k), name="largest")
    exponents = te.compute(shape, exponent, name="exponents")
    powers = te.compute(shape, lambda *i: tirx.Cast("int32", exp2_negative(exponents(*i))), name="powers")
    j = te.reduce_axis((0, shape[axis]), name="j")
    total = te.compute(rest, lambda *i: te.sum(wide(powers(*i[:axis], j, *i[axis:])), axis=j), name="total")
    width = te.compute(rest, lambda *i: _width(total(*i)), name="width")
    inverse = reciprocal(te.compute(rest, lambda *i: total(*i) >> width(*i), name="normalized"))
    factor = te.compute(
        rest, lambda *i: (inverse(*i) * i64(attrs.out_multiplier) + i64(1 << 30)) >> i64(31), name="factor"
    )
    return powers, factor, te.compute(rest, lambda *i: width(*i) + i64(30 - int(attrs.out_shift)), name="shift")


def _width(total: tirx.PrimExpr) -> tirx.PrimExpr:
    """How many of 2^31, 2^32, ... are not above the sum."""
    count = i64(0)
    for j in range(SUM_SHIFTS):
        count = count + wide(total >= i64(1 << (31 + j)))
    return count


# numerics.integer_softmax_params gives the multipliers and shifts
integer_softmax = register("integer_softmax", ("x",), IntegerSoftmaxAttrs, _infer, _legalize)
