"""Tensors made from nothing but a shape, or from the shape of another tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq.relay.expr import Call, Constant, Expr, const
from tvmq.relay.op.arguments import call
from tvmq.relay.op.constants import given_numbers, scalar
from tvmq.relay.op.registry import REQUIRED, register


@register("zeros", shape=REQUIRED, dtype=REQUIRED)
def _zeros(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.zeros(list(attrs.shape), attrs.dtype))


@register("ones", shape=REQUIRED, dtype=REQUIRED)
def _ones(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.ones(list(attrs.shape), attrs.dtype))


@register("full", shape=REQUIRED, dtype="")
def _full(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.full(list(attrs.shape), args[0], attrs.dtype or str(args[0].ty.dtype)))


@register("zeros_like")
def _zeros_like(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.zeros_like(args[0]))


@register("ones_like")
def _ones_like(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.ones_like(args[0]))


@register("full_like")
def _full_like(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.full_like(args[0], args[1]))


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
    """One value everywhere, as relay.full.

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
    """One value in shape and type of another tensor, as relay.full_like."""
    return call("full_like", data, fill_value)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: str = "float32") -> Call:
    """Numbers from start to stop (excluded), as relay.arange; start, stop, step: constants, or plain numbers.

    >>> str(arange(const(4), dtype="int32").checked_type)
    'Tensor[(4), int32]'
    """
    if stop is None:
        start, stop = const(0, dtype), start
    bounds = (start, stop, const(1, dtype) if step is None else step)
    made = [bound if isinstance(bound, Expr) else Constant(np.array(bound, dtype)) for bound in bounds]
    return call("arange", *made, dtype=str(dtype))
