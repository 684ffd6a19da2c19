"""Reads a piece of a graph as a polynomial of one tensor (algebra.py): what it means, whatever operators spell it.

Axes are those of the tensor. A value may have fewer (a mean without keepdims), more of one element (expand_dims), or
others in order (permute_dims): its layout says which axis of the tensor each of its own is, None for one that came.

Tests: tests/passes/test_spellings.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import POOL, RESHAPE
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import const_value, dtype_of, is_const, number_of, op_name, sizes_of
from tvmq.passes.families.absorb import clip_bounds
from tvmq.passes.prepare import algebra
from tvmq.passes.prepare import algebra_functions as functions
from tvmq.passes.prepare.algebra import NoNormalForm, Polynomial

MOST_BINDINGS = 24  # of a group; those of norms have up to 17
MOST_REDUCTIONS = 4  # one behind the other: a variance has two, of two axes one by one four
Layout = tuple[int | None, ...]
Size = int | str  # dynamic dimensions are texts
ELEMENTWISE = where(elementwise=True)
REDUCTIONS = ("mean", "sum", "max", "min", "variance", "std")
POOLS = where(kind=POOL, commutes_with_quantize=False)
MEANS = ("mean", "sum", "variance", "std", *POOLS)


class Value(NamedTuple):
    """A polynomial of the tensor and the axes that it has."""

    form: Polynomial
    layout: Layout


class PolynomialReader:
    """Reads variables as polynomials of one of them.

    walked  the variables between, by name
    """

    def __init__(self, rewriter: Rewriter, x: relax.Var) -> None:
        self._rewriter, self._x = rewriter, x
        self._values: dict[str, Value | None] = {}
        self.walked: dict[str, relax.Var] = {}

    def read(self, expr: relax.Expr) -> Value:
        """Form of a variable or a call as a function of the tensor. Raises UnknownForm."""
        if isinstance(expr, relax.Var):
            if expr.same_as(self._x):
                return self._tensor()
            if expr.name not in self._values:
                self._values[expr.name] = None  # until it is known: no failure is tried twice
                call = self._rewriter.value_of(expr)
                self.walked[expr.name] = expr
                if call is not None and len(self.walked) <= MOST_BINDINGS:
                    self._values[expr.name] = self.read(call)
            value = self._values[expr.name]
            if value is None:
                raise NoNormalForm("another tensor")
            return value
        operator = OPERATORS.get(op_name(expr))
        if operator is None and op_name(expr) not in ELEMENTWISE:
            raise NoNormalForm(op_name(expr))
        try:
            return (operator or _read_opaque)(self, expr)
        except NoNormalForm:
            if op_name(expr) not in ELEMENTWISE or operator is None:
                raise
            return _read_opaque(self, expr)

    def _tensor(self) -> Value:
        sizes = known_sizes(self._x)
        unit = frozenset(axis for axis, size in enumerate(sizes) if size == 1)
        return Value(algebra.variable(unit), tuple(range(len(sizes))))

    def operands(self, call: relax.Call) -> tuple[Polynomial, Polynomial, Layout]:
        """Two operands, of which one may be a constant, and the axes of the result."""
        first, second = call.args
        if is_const(first) or is_const(second):
            known = self.read(second if is_const(first) else first)
            array, layout = self._constant(first if is_const(first) else second, known.layout)
            return (array, known.form, layout) if is_const(first) else (known.form, array, layout)
        a, b = self.read(first), self.read(second)
        return a.form, b.form, _join_layouts(a.layout, b.layout)

    def _constant(self, expr: relax.Expr, layout: Layout) -> tuple[Polynomial, Layout]:
        """A constant beside a value of that layout, along the axes of the tensor; the layout of both."""
        array, sizes = algebra.without_repeats(const_value(expr).astype(np.float64)), known_sizes(self._x)
        if array.size == 1 and array.ndim <= len(layout):
            return algebra.constant(float(array.reshape(()))), layout
        if array.ndim > len(layout) or not np.isfinite(array).all():
            raise NoNormalForm("a constant of more axes, or a mask")
        full = array.reshape((1,) * (len(layout) - array.ndim) + array.shape)
        joined = tuple(
            place + len(sizes) - len(layout) if axis is None and size != 1 else axis
            for place, (axis, size) in enumerate(zip(layout, full.shape, strict=True))
        )
        placed = [axis for axis, size in zip(joined, full.shape, strict=True) if axis is not None and size != 1]
        kept = [axis for axis in joined if axis is not None]
        if placed != sorted(set(placed)) or placed[:1] < [0] or len(set(kept)) < len(kept):
            raise NoNormalForm("a constant along other axes")
        shape = [1] * len(sizes)
        for axis, size in zip(joined, full.shape, strict=True):
            if axis is not None and size != 1:
                shape[axis] = size
        return algebra.constant(full.reshape(shape)), joined

    def sizes(self) -> list[Size]:
        """Sizes of the tensor."""
        return known_sizes(self._x)

    def producer(self, expr: relax.Expr) -> relax.Expr | None:
        """Value that a variable is bound to."""
        return self._rewriter.value_of(expr)

    def walk(self, var: relax.Var) -> None:
        """Walk through a variable without reading it."""
        self.walked[var.name] = var


def readings(
    rewriter: Rewriter, value: relax.Call, needed: Sequence[str]
) -> Iterator[tuple[relax.Var, Polynomial, dict[str, relax.Var]]]:
    """Forms of a call: a tensor before it, the polynomial of that tensor, the variables between; farthest first.

    needed  operators of which one must be between
    """
    for x in candidates(rewriter, value, needed):
        reader = PolynomialReader(rewriter, x)
        try:
            with np.errstate(all="ignore"):
                form = reader.read(value)
        except (NoNormalForm, ArithmeticError):  # the latter: constants of which a power is no float
            continue
        if form.layout == tuple(range(len(form.layout))):
            yield x, form.form, reader.walked


def candidates(rewriter: Rewriter, value: relax.Call, needed: Sequence[str]) -> list[relax.Var]:
    """The tensors of which a call may be a function, the farthest first; none where no operator of `needed` is between.

    All have the shape of the call's result.
    """
    seen: dict[str, relax.Var] = {}
    queue, has_needed = [(arg, 0) for arg in value.args if isinstance(arg, relax.Var)], False
    for var, count in queue:  # with the reductions between it and the call
        if var.name in seen or len(seen) > MOST_BINDINGS or count > MOST_REDUCTIONS:
            continue
        seen[var.name] = var
        call = rewriter.value_of(var)
        if call is not None and (op_name(call) in OPERATORS or op_name(call) in ELEMENTWISE):
            has_needed = has_needed or op_name(call) in needed
            count += op_name(call) in (*REDUCTIONS, *POOLS)
            queue += [(arg, count) for arg in call.args if isinstance(arg, relax.Var)]
    if not has_needed:
        return []
    wanted = known_sizes(value)
    return [var for var in reversed(seen.values()) if _is_tensor(var) and known_sizes(var) == wanted]


def _is_tensor(var: relax.Var) -> bool:
    return isinstance(var.ty, relax.TensorType) and var.ty.shape is not None and dtype_of(var) == "float32"


def known_sizes(expr: relax.Expr) -> list[Size]:
    """Dimensions of a tensor. Raises UnknownForm for what has none."""
    if not isinstance(expr.ty, relax.TensorType) or expr.ty.shape is None:
        raise NoNormalForm("an unknown shape")
    return list(sizes_of(expr))


# ---- layouts


def _join_layouts(a: Layout, b: Layout) -> Layout:
    """The axes of the result of two operands that broadcast."""
    rank = max(len(a), len(b))
    padded = [(None,) * (rank - len(layout)) + layout for layout in (a, b)]
    pairs = list(zip(*padded, strict=True))
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        raise NoNormalForm("operands along other axes")
    joined = tuple(first if second is None else second for first, second in pairs)
    kept = [axis for axis in joined if axis is not None]
    if len(set(kept)) < len(kept):
        raise NoNormalForm("an axis twice")
    return joined


def _read_reshape(reader: PolynomialReader, call: relax.Call) -> Value:
    """reshape, squeeze, expand_dims: axes of one element come and go, nothing else changes."""
    value, before, after = reader.read(call.args[0]), known_sizes(call.args[0]), known_sizes(call)
    if [size for size in before if size != 1] != [size for size in after if size != 1]:
        raise NoNormalForm("another shape")
    axes = iter([axis for axis, size in zip(value.layout, before, strict=True) if size != 1])
    if before == after:
        return value
    return Value(value.form, tuple(None if size == 1 else next(axes) for size in after))


def _broadcast(reader: PolynomialReader, call: relax.Call) -> Value:
    value, sizes = reader.read(call.args[0]), known_sizes(call)
    rank = len(reader.sizes())
    if sizes != reader.sizes():
        raise NoNormalForm("another shape")
    return Value(value.form, _join_layouts(value.layout, tuple(range(rank))))


def _read_permute(reader: PolynomialReader, call: relax.Call) -> Value:
    value = reader.read(call.args[0])
    rank = len(value.layout)
    order = [int(axis) % rank for axis in call.attrs.axes] if call.attrs.axes is not None else range(rank)[::-1]
    return Value(value.form, tuple(value.layout[axis] for axis in order))


# ---- reductions


def _read_reduction(reader: PolynomialReader, call: relax.Call) -> Value:
    value, sizes = reader.read(call.args[0]), known_sizes(call.args[0])
    rank = len(sizes)
    own = range(rank) if call.attrs.axis is None else [int(axis) % rank for axis in call.attrs.axis]
    kept = tuple(axis for place, axis in enumerate(value.layout) if call.attrs.keepdims or place not in own)
    form = _reduction(op_name(call), value, {place: sizes[place] for place in own})
    return Value(form, kept)


def _reduction(name: str, value: Value, own: dict[int, Size]) -> Polynomial:
    """Reduction of a value; `own` are its reduced places and their sizes."""
    several = [place for place, size in own.items() if size != 1]
    axes = frozenset(axis for place in several if (axis := value.layout[place]) is not None)
    if len(axes) < len(several):
        raise NoNormalForm("a reduction of repeated values")
    if not axes and name not in ("variance", "std"):
        return value.form
    if name in ("max", "min"):
        return functions.extreme(name, value.form, axes)
    mean = functions.mean(value.form, axes)
    if name in ("variance", "std"):
        squares = functions.mean(algebra.times(value.form, value.form), axes)
        variance = algebra.add(squares, algebra.scale_polynomial(algebra.times(mean, mean), -1.0))
        return variance if name == "variance" else functions.power(variance, 0.5)
    if name == "mean":
        return mean
    counts = [size for place in several if isinstance(size := own[place], int)]
    if len(counts) < len(several):
        raise NoNormalForm("a sum of a dynamic number of values")
    return algebra.scale_polynomial(mean, float(math.prod(counts)))


def _read_average_pool(reader: PolynomialReader, call: relax.Call) -> Value:
    """An average over all positions."""
    value, sizes, after = reader.read(call.args[0]), known_sizes(call.args[0]), known_sizes(call)
    places = [place for place, size in enumerate(after) if size != sizes[place] or (size == 1 and place > 1)]
    padding = getattr(call.attrs, "padding", None) or ()
    full = "adaptive" in op_name(call) or [sizes[p] for p in places] == [int(size) for size in call.attrs.pool_size]
    if not full or any(int(size) for size in padding) or any(after[place] != 1 for place in places) or 1 in places:
        raise NoNormalForm("an average of some positions")
    return Value(_reduction("mean", value, {place: sizes[place] for place in places}), value.layout)


# ---- element by element


def _binary(combine: Callable[[Polynomial, Polynomial], Polynomial]) -> Callable[[PolynomialReader, relax.Call], Value]:
    def operator(reader: PolynomialReader, call: relax.Call) -> Value:
        first, second, layout = reader.operands(call)
        return Value(combine(first, second), layout)

    return operator


def _unary(operation: Callable[[Polynomial], Polynomial]) -> Callable[[PolynomialReader, relax.Call], Value]:
    def operator(reader: PolynomialReader, call: relax.Call) -> Value:
        value = reader.read(call.args[0])
        return Value(operation(value.form), value.layout)

    return operator


def _number(p: Polynomial) -> float:
    """A polynomial that is a number."""
    if not p:
        return 0.0
    if set(p) != {algebra.ONE} or np.ndim(p[algebra.ONE]):
        raise NoNormalForm("no number")
    return float(p[algebra.ONE])


def _difference(first: Polynomial, second: Polynomial) -> Polynomial:
    return algebra.add(first, algebra.scale_polynomial(second, -1.0))


def _quotient(first: Polynomial, second: Polynomial) -> Polynomial:
    return algebra.times(first, functions.power(second, -1.0))


def _power(first: Polynomial, second: Polynomial) -> Polynomial:
    return functions.power(first, _number(second))


def _read_opaque(reader: PolynomialReader, call: relax.Call) -> Value:
    """Another function of one value each, such as the bounds and tests of shifts."""
    operands = [arg for arg in call.args if isinstance(arg, relax.Var)]
    numbers = [number_of(arg) if isinstance(arg, relax.Expr) else arg for arg in call.args if arg not in operands]
    if not operands or None in numbers:
        raise NoNormalForm(op_name(call))
    values = [reader.read(arg) for arg in operands]
    layout = reduce(_join_layouts, (value.layout for value in values))
    name = f"{op_name(call)}{[arg in operands for arg in call.args]}{numbers}{_attributes(call)}"
    return Value(functions.opaque_function(name, [value.form for value in values]), layout)


def _attributes(call: relax.Call) -> str:
    return str(call.attrs)[:] if call.attrs is not None else ""


def _minimum(first: Polynomial, second: Polynomial) -> Polynomial:
    if set(first) <= {algebra.ONE}:
        first, second = second, first
    return functions.at_most(first, _number(second))


def _maximum(first: Polynomial, second: Polynomial) -> Polynomial:
    if set(first) <= {algebra.ONE}:
        first, second = second, first
    return functions.at_least(first, _number(second))


def _apply_relu(p: Polynomial) -> Polynomial:
    return functions.at_least(p, 0.0)


def _read_clip(reader: PolynomialReader, call: relax.Call) -> Value:
    value = reader.read(call.args[0])
    bounds = clip_bounds(call, op_name(call))
    low, high = bounds if bounds is not None else (0.0, 0.0)
    if high < 1e30:
        raise NoNormalForm("an upper bound")
    return Value(functions.at_least(value.form, low), value.layout)


def _read_guard(reader: PolynomialReader, call: relax.Call) -> Value:
    """where(v == 0, c, v): v, but for zeros."""
    condition, instead, otherwise = call.args
    test = reader.producer(condition)
    if test is None or op_name(test) != "equal" or not is_const(instead) or not is_const(test.args[1]):
        raise NoNormalForm("a choice")
    if not otherwise.same_as(test.args[0]) or np.any(const_value(test.args[1])):
        raise NoNormalForm("a choice")
    value = reader.read(otherwise)
    reader.walk(condition)
    return Value(functions.at_least(value.form, LEAST_NORM), value.layout)


def _cast(reader: PolynomialReader, call: relax.Call) -> Value:
    if dtype_of(call) != dtype_of(call.args[0]):
        raise NoNormalForm("a cast")
    return reader.read(call.args[0])


LEAST_NORM = 1e-15
OPERATORS: dict[str, Callable[[PolynomialReader, relax.Call], Value]] = {
    "add": _binary(algebra.add),
    "subtract": _binary(_difference),
    "multiply": _binary(algebra.times),
    "divide": _binary(_quotient),
    "power": _binary(_power),
    "maximum": _binary(_maximum),
    "minimum": _binary(_minimum),
    "negative": _unary(lambda p: algebra.scale_polynomial(p, -1.0)),
    "square": _unary(lambda p: algebra.times(p, p)),
    "sqrt": _unary(lambda p: functions.power(p, 0.5)),
    "rsqrt": _unary(lambda p: functions.power(p, -0.5)),
    "exp": _unary(functions.exponential),
    "log": _unary(functions.logarithm),
    "abs": _unary(functions.absolute),
    "nn.relu": _unary(_apply_relu),
    "clip": _read_clip,
    "where": _read_guard,
    "astype": _cast,
    "permute_dims": _read_permute,
    "broadcast_to": _broadcast,
    **dict.fromkeys(where(form=RESHAPE), _read_reshape),
    **dict.fromkeys(REDUCTIONS, _read_reduction),
    **dict.fromkeys(POOLS, _read_average_pool),
}
