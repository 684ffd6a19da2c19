"""Reductions: over all dimensions, over some, or over all others (exclude).

Tests: tests/relay/quantize/test_classic_cases.py
"""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.relay.expr import Call, Expr, Tuple, TupleWrapper
from tvmq.relay.op.arguments import call
from tvmq.relay.op.elementwise import relax_op
from tvmq.relay.op.registry import register
from tvmq.relay.types import numbers


def reduced_axes(rank: int, axis: Any, exclude: bool) -> list[int] | None:
    """Axes to reduce, None for all.

    >>> reduced_axes(3, -1, False), reduced_axes(3, -1, True), reduced_axes(3, None, False)
    ([2], [0, 1], None)
    """
    if axis is None or axis == ():
        return None
    named = [number % rank for number in numbers(axis)]
    return [i for i in range(rank) if i not in named] if exclude else named


def _reduction(name: str) -> None:
    def lowering(emit: Any, args: list[Any], attrs: Any) -> Any:
        axes = reduced_axes(len(args[0].ty.shape), attrs.axis, attrs.exclude)
        return args[0] if axes == [] else emit(relax_op(name)(args[0], axes, bool(attrs.keepdims)))

    register(name, axis=None, keepdims=False, exclude=False)(lowering)


for _name in ("sum", "mean", "max", "min", "prod"):
    _reduction(_name)


@register("variance", axis=None, keepdims=False, exclude=False, unbiased=False)
def _variance(emit: Any, args: list[Any], attrs: Any) -> Any:
    """Mean of the squared distances from the second operand, the mean; unbiased: divided by one value less."""
    data, mean = args
    axes = reduced_axes(len(data.ty.shape), attrs.axis, attrs.exclude)
    difference = emit(relax.op.subtract(data, mean))
    squares = emit(relax.op.multiply(difference, difference))
    result = emit(relax.op.mean(squares, axes, bool(attrs.keepdims)))
    if not attrs.unbiased:
        return result
    count = 1
    for axis in range(len(data.ty.shape)) if axes is None else axes:
        count *= int(data.ty.shape[axis])
    factor = relax.const(count / (count - 1 or 1), str(data.ty.dtype))
    return emit(relax.op.multiply(result, factor))


def _index(name: str) -> None:
    def lowering(emit: Any, args: list[Any], attrs: Any) -> Any:
        axes = reduced_axes(len(args[0].ty.shape), attrs.axis, attrs.exclude)
        if attrs.select_last_index or (axes is not None and len(axes) != 1):
            raise UnsupportedOpError(f"relay, {name}: one axis or all, the first index; reshape, or reverse the data")
        index = emit(relax_op(name)(args[0], None if axes is None else axes[0], bool(attrs.keepdims)))
        return emit(relax.op.astype(index, "int32"))

    register(name, axis=None, keepdims=False, exclude=False, select_last_index=False)(lowering)


_index("argmax")
_index("argmin")


def _axis(axis: Any) -> tuple[int, ...] | None:
    return None if axis is None else numbers(axis)


# Relay's names, which are Python's too
def sum(data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Sum, as relay.sum; the element type stays.

    >>> from tvmq.relay.expr import var
    >>> str(sum(var("x", shape=(2, 3, 4)), axis=1, exclude=True).checked_type)
    'Tensor[(3), float32]'
    """
    return call("sum", data, axis=_axis(axis), keepdims=keepdims, exclude=exclude)


def mean(data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Mean, as relay.mean."""
    return call("mean", data, axis=_axis(axis), keepdims=keepdims, exclude=exclude)


def max(data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Largest value, as relay.max."""
    return call("max", data, axis=_axis(axis), keepdims=keepdims, exclude=exclude)


def min(data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Smallest value, as relay.min."""
    return call("min", data, axis=_axis(axis), keepdims=keepdims, exclude=exclude)


def prod(data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Product, as relay.prod."""
    return call("prod", data, axis=_axis(axis), keepdims=keepdims, exclude=exclude)


def argmax(
    data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False, select_last_index: bool = False
) -> Call:
    """Index of the first largest value as int32, as relay.argmax."""
    options = {"keepdims": keepdims, "exclude": exclude, "select_last_index": select_last_index}
    return call("argmax", data, axis=_axis(axis), **options)


def argmin(
    data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False, select_last_index: bool = False
) -> Call:
    """Index of the first smallest value as int32, as relay.argmin."""
    options = {"keepdims": keepdims, "exclude": exclude, "select_last_index": select_last_index}
    return call("argmin", data, axis=_axis(axis), **options)


def variance(
    data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False,
    with_mean: Expr | None = None,
) -> Call:  # fmt: skip
    """Variance, as relay.variance; with_mean: a mean that is known, its dimensions kept."""
    known = mean(data, axis, True, exclude) if with_mean is None else with_mean
    options = {"keepdims": keepdims, "exclude": exclude, "unbiased": unbiased}
    return call("variance", data, known, axis=_axis(axis), **options)


def std(data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False) -> Call:
    """Standard deviation, as relay.std."""
    return call("sqrt", variance(data, axis, keepdims, exclude, unbiased))


def mean_variance(
    data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> TupleWrapper:
    """Mean and variance, as relay.mean_variance."""
    shown = mean(data, axis, keepdims, exclude)
    return TupleWrapper(Tuple([shown, variance(data, axis, keepdims, exclude, unbiased)]), 2)


def mean_std(
    data: Expr, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> TupleWrapper:
    """Mean and standard deviation, as relay.mean_std."""
    shown = mean(data, axis, keepdims, exclude)
    return TupleWrapper(Tuple([shown, std(data, axis, keepdims, exclude, unbiased)]), 2)
