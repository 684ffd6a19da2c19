"""Comparisons, maxima and minima of truth values, in uint8: LLVM compares single bits as if they were floats."""

from __future__ import annotations

from typing import Any

from tvm import relax, te, topi

from tvmq.graph.view import dtype_of

COMPARISONS = ("equal", "greater", "greater_equal", "less", "less_equal", "not_equal")


def legalize(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of comparisons, relax.maximum and relax.minimum: ours for truth values, else TVM's."""
    if dtype_of(call.args[0]) != "bool":
        return call.op.get_attr("FLegalize")(builder, call)
    name = call.op.name.removeprefix("relax.")
    return builder.call_te(_in_numbers, *call.args, name, primfunc_name_hint=name)


def reduce(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.max and relax.min of truth values."""
    axes = None if call.attrs.axis is None else [int(axis) for axis in call.attrs.axis]
    name = call.op.name.removeprefix("relax.")
    return builder.call_te(_reduce, call.args[0], name, axes, bool(call.attrs.keepdims), primfunc_name_hint=name)


def _in_numbers(x: te.Tensor, y: te.Tensor, name: str) -> te.Tensor:
    return topi.cast(getattr(topi, name)(topi.cast(x, "uint8"), topi.cast(y, "uint8")), "bool")


def _reduce(x: te.Tensor, name: str, axes: list[int] | None, keepdims: bool) -> te.Tensor:
    return topi.cast(getattr(topi, name)(topi.cast(x, "uint8"), axes, keepdims), "bool")


RULES: dict[str, Any] = {f"relax.{name}": legalize for name in COMPARISONS}
