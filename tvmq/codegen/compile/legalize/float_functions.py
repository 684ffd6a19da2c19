"""exp, sigmoid, tanh, erf and what is made of them on floats: the loops of their definition in NumPy.

TVM calls a function of the C library for every number. The definitions (numerics/elementary.py) are plain arithmetic
that becomes vectors, and the same operations in every vector width: a function gives the same bits on every CPU, alone
and fused with its neighbours.

The definition of an elementary function as one expression; what a symbol is stands in kernels/parts/symbols.py.

    trace(numerics.tanh, x)  ->  Let(t0, min(max(x, -9.1), 9.1), Let(t1, fence(t0 * t0), ... ))

So a definition and its compiled code are one text. Every float operation gets a fence (no contraction into an FMA, no
simplification by TVM), every step a variable: a value that is used twice is computed once.

Relu, clip, maximum and minimum that keep NaN, which TVM's drop: a bound is the first operand, since of a NaN and
another number CPUs take the second.

Maxima and minima along axes, right for infinities: of nothing, or of infinities alone, TVM's give +-3.4e38.

Leaky relu and prelu, right for the sign of zero: TVM folds x * 0 to 0, and prelu multiplies zeros by the slope.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvm import relax, te, tirx, topi
from tvm.ir.prim.expr import Let
from tvm.tirx import const

from tvmq.codegen.compile.legalize import truth_values
from tvmq.codegen.kernels.parts.symbols import Expr, TirSymbol
from tvmq.graph.operators.loops import current_kind, fence
from tvmq.graph.view import dtype_of
from tvmq.numerics.elementary import ELEMENTARY


def trace(function: Callable[[Any], Any], x: Expr) -> Expr:
    """The expression of `function` of a float32 expression.

    raises  TypeError for what a symbol does not know
    """
    steps: list[tuple[tirx.Var, Expr]] = []

    def step(value: Expr, dtype: str) -> Expr:
        var = tirx.Var(f"t{len(steps)}", dtype)
        steps.append((var, fence(value) if dtype == "float32" else value))
        return var

    argument = tirx.Var("x", "float32")
    (value,) = function(TirSymbol([argument], "float32", step)).exprs
    for var, bound in reversed([(argument, x), *steps]):
        value = Let(var, bound, value)
    return value


def legalize(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of the operators of ELEMENTARY: ours for float32 on CPUs and GPUs, else TVM's."""
    name = call.op.name.removeprefix("relax.")
    x = call.args[0]
    if dtype_of(x) != "float32" or current_kind() not in ("llvm", "cuda"):
        return call.op.get_attr("FLegalize")(builder, call)
    return builder.call_te(_element_wise, x, name, primfunc_name_hint=name.rpartition(".")[2])


def _element_wise(x: te.Tensor, name: str) -> te.Tensor:
    function = ELEMENTARY[name]
    # the number read becomes a variable of the trace: the producer of x may become part of the expression
    return te.compute(x.shape, lambda *index: trace(function, x(*index)), name=name.rpartition(".")[2])


def extreme(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.max and relax.min: floats begin at -inf and inf, as in NumPy."""
    name = call.op.name.removeprefix("relax.")
    data, keepdims = call.args[0], bool(call.attrs.keepdims)
    if dtype_of(data) == "bool":
        return truth_values.reduce(builder, call)
    axes = None if call.attrs.axis is None else [int(axis) for axis in call.attrs.axis]
    if not str(data.ty.dtype).startswith("float"):
        return builder.call_te(getattr(topi, name), data, axes, keepdims, primfunc_name_hint=name)
    return builder.call_te(_reduce, data, name, axes, keepdims, primfunc_name_hint=name)


def _reduce(data: te.Tensor, name: str, axes: list[int] | None, keepdims: bool) -> te.Tensor:
    """Reduce in a single compute, whose reduced axes lie innermost in the order of the loops."""
    rank = len(data.shape)
    reduced = set(range(rank)) if axes is None else {axis % rank for axis in axes}
    loops = {axis: te.reduce_axis((0, data.shape[axis]), f"k{axis}") for axis in sorted(reduced)}
    kept = [axis for axis in range(rank) if keepdims or axis not in reduced]

    def value(*indices: Any) -> Any:
        place = dict(zip(kept, indices, strict=True))
        return _REDUCERS[name](data(*[loops.get(axis, place.get(axis)) for axis in range(rank)]), list(loops.values()))

    shape = [1 if axis in reduced else data.shape[axis] for axis in kept]
    return te.compute(shape, value, name=f"{name}_reduced")


_REDUCERS = {
    "max": te.comm_reducer(lambda a, b: tirx.Max(a, b), lambda dtype: const(float("-inf"), dtype), name="max"),
    "min": te.comm_reducer(lambda a, b: tirx.Min(a, b), lambda dtype: const(float("inf"), dtype), name="min"),
}


def pairwise_extreme(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.maximum and relax.minimum: NaN where one of two floats is NaN."""
    if not dtype_of(call).startswith("float"):
        return truth_values.legalize(builder, call)
    name = call.op.name.removeprefix("relax.")
    return builder.call_te(_pairs, *call.args, list(call.ty.shape), name, primfunc_name_hint=name)


def _pairs(a: te.Tensor, b: te.Tensor, shape: list[Any], name: str) -> te.Tensor:
    """The extreme of each pair; axes of size 1 are repeated."""
    order = tirx.Max if name == "maximum" else tirx.Min

    def item(x: te.Tensor, indices: Any) -> Expr:
        places = zip(x.shape, indices[len(indices) - len(x.shape) :], strict=True)
        return x(*[0 if isinstance(size, tirx.IntImm) and int(size) == 1 else place for size, place in places])

    def value(*indices: Any) -> Expr:
        first, second = item(a, indices), item(b, indices)
        return tirx.Select(tirx.isnan(first), first, order(first, second))

    return te.compute(shape, value, name=name)


def clamp(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.nn.relu and relax.clip: NaN stays NaN."""
    if not dtype_of(call).startswith("float"):
        return call.op.get_attr("FLegalize")(builder, call)
    low, high = [float(bound.value) for bound in call.args[1:]] or (0.0, None)
    return builder.call_te(_limit, call.args[0], low, high, primfunc_name_hint=call.op.name.rpartition(".")[2])


def _limit(x: te.Tensor, low: float, high: float | None) -> te.Tensor:
    def value(*indices: Any) -> Expr:
        item = x(*indices)
        item = item if high is None else tirx.Min(const(high, x.dtype), item)
        return tirx.Max(const(low, x.dtype), item)

    return te.compute(x.shape, value, name="compute")


def leaky(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.nn.leakyrelu: x where x >= 0, else x * alpha; a slope of 0 gives -0 and keeps NaN."""
    return builder.call_te(_leaky, call.args[0], float(call.attrs.alpha), primfunc_name_hint="leaky_relu")


def _leaky(x: te.Tensor, alpha: float) -> te.Tensor:
    slope = const(alpha, x.dtype)
    # behind a fence the simplifier does not know that it is zero
    slope = fence(slope) if alpha == 0 else slope

    def value(*indices: Any) -> Any:
        item = x(*indices)
        return tirx.Select(item >= const(0, x.dtype), item, item * slope)

    return te.compute(x.shape, value, name="leaky_relu")


def prelu(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.nn.prelu: x where x >= 0, else x * slope of its channel, or x * the only slope."""
    return builder.call_te(_prelu, *call.args, int(call.attrs.axis), primfunc_name_hint="prelu")


def _prelu(x: te.Tensor, slopes: te.Tensor, axis: int) -> te.Tensor:
    channel, is_one = axis % len(x.shape), slopes.shape[0] == 1

    def value(*indices: Any) -> Any:
        item = x(*indices)
        return tirx.Select(item >= const(0, x.dtype), item, item * slopes(0 if is_one else indices[channel]))

    return te.compute(x.shape, value, name="prelu")
