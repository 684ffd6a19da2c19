"""Tensors made from nothing but a shape, or from the shape of another tensor.

Choosing by index or condition, and what integer arithmetic of quantized models needs.

Tests: tests/relay/quantize/test_classic_cases.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.relay.expr import Call, Constant, Expr, const
from tvmq.relay.op.arguments import call, given_numbers, scalar
from tvmq.relay.op.elementwise import register_same
from tvmq.relay.op.registry import REQUIRED, register

register_same("zeros", "zeros", shape=REQUIRED, dtype=REQUIRED)
register_same("ones", "ones", shape=REQUIRED, dtype=REQUIRED)


@register("full", shape=REQUIRED, dtype="")
def _lower_full(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.full(list(attrs.shape), args[0], attrs.dtype or str(args[0].ty.dtype)))


for _name in ("zeros_like", "ones_like", "full_like"):
    register_same(_name, _name)


@register("arange", dtype=REQUIRED)
def _arange(emit: Any, args: list[Any], attrs: Any) -> Any:
    """A constant: its length is a matter of the numbers."""
    start, stop, step = (scalar(arg, "arange") for arg in args)
    return relax.const(np.arange(start, stop, step).astype(attrs.dtype), attrs.dtype)


def zeros(shape: Any, dtype: str) -> Call:
    """Zeros, as relay.zeros."""
    return call("zeros", shape=given_numbers(shape, "zeros, shape"), dtype=str(dtype))


def ones(shape: Any, dtype: str) -> Call:
    """Ones, as relay.ones."""
    return call("ones", shape=given_numbers(shape, "ones, shape"), dtype=str(dtype))


def full(fill_value: Expr, shape: Any = (), dtype: str = "") -> Call:
    """A tensor with the same value everywhere, as relay.full.

    >>> str(full(const(1.5), (2, 3)).checked_type)
    'Tensor[(2, 3), float32]'
    """
    return call("full", fill_value, shape=given_numbers(shape, "full, shape"), dtype=str(dtype))


def zeros_like(data: Expr) -> Call:
    """Zeros in shape and type of another tensor, as relay.zeros_like."""
    return call("zeros_like", data)


def ones_like(data: Expr) -> Call:
    """Ones in shape and type of another tensor, as relay.ones_like."""
    return call("ones_like", data)


def full_like(data: Expr, fill_value: Expr) -> Call:
    """A tensor with the same value everywhere, in shape and type of another, as relay.full_like."""
    return call("full_like", data, fill_value)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: str = "float32") -> Call:
    """Numbers from start to stop (excluded), as relay.arange; start, stop, step: constants, or plain numbers.

    >>> str(arange(const(4), dtype="int32").checked_type)
    'Tensor[(4), int32]'
    """
    if stop is None:
        start, stop = const(0, dtype), start
    bounds = (start, stop, const(1, dtype) if step is None else step)
    values = [bound if isinstance(bound, Expr) else Constant(np.array(bound, dtype)) for bound in bounds]
    return call("arange", *values, dtype=str(dtype))


@register("take", batch_dims=0, axis=None, mode="clip")
def _take(emit: Any, args: list[Any], attrs: Any) -> Any:
    if attrs.batch_dims:
        raise UnsupportedOpError("relay, take: batch_dims is not supported; use relax.op.gather_elements")
    data, indices = args
    if attrs.axis is None:
        data = emit(relax.op.reshape(data, [-1]))
    axis = 0 if attrs.axis is None else attrs.axis % len(data.ty.shape)
    return emit(relax.op.take(data, indices, axis, mode=attrs.mode))


@register("where")
def _where(emit: Any, args: list[Any], attrs: Any) -> Any:
    condition = args[0]
    dtype = str(condition.ty.dtype)
    if dtype != "bool":  # Relay took every number but 0 as true
        condition = emit(relax.op.not_equal(condition, relax.const(0, dtype)))
    return emit(relax.op.where(condition, *args[1:]))


@register("fixed_point_multiply", multiplier=REQUIRED, shift=REQUIRED)
def _fixed_point_multiply(emit: Any, args: list[Any], attrs: Any) -> Any:
    """data * multiplier * 2 ** (shift - 31), halves up, in 64 bits: Relay's formula."""
    data, dtype = args[0], str(args[0].ty.dtype)
    left, right = (attrs.shift, 0) if attrs.shift > 0 else (0, -attrs.shift)
    wide = emit(relax.op.astype(data, "int64"))
    if left:
        wide = emit(relax.op.left_shift(wide, relax.const(left, "int64")))
    product = emit(relax.op.multiply(wide, relax.const(attrs.multiplier, "int64")))
    rounded = emit(relax.op.add(product, relax.const(1 << (30 + right), "int64")))
    shifted = emit(relax.op.right_shift(rounded, relax.const(31 + right, "int64")))
    return shifted if dtype == "int64" else emit(relax.op.astype(shifted, dtype))


def take(data: Expr, indices: Expr, axis: int | None = None, batch_dims: int = 0, mode: str = "clip") -> Call:
    """Elements at indices along an axis, of the flattened data without one, as relay.take; mode clip, wrap or fast."""
    return call("take", data, indices, axis=axis, batch_dims=batch_dims, mode=mode)


def where(condition: Expr, x: Expr, y: Expr) -> Call:
    """x where the condition holds, else y, as relay.where."""
    return call("where", condition, x, y)


def fixed_point_multiply(data: Expr, multiplier: int, shift: int) -> Call:
    """data times a number in fixed point, as relay.fixed_point_multiply.

    multiplier  mantissa, 31 fraction bits
    shift       power of two, negative to the right
    """
    return call("fixed_point_multiply", data, multiplier=int(multiplier), shift=int(shift))
