"""Choosing by index or condition, and what integer arithmetic of quantized models needs."""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.relay.expr import Call, Expr
from tvmq.relay.op.arguments import call
from tvmq.relay.op.registry import REQUIRED, register


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
