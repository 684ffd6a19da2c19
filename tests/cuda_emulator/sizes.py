"""Dynamic sizes of tensors as numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tvm import tirx

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "FloorDiv": operator.floordiv,
    "FloorMod": operator.mod, "Div": operator.floordiv, "Mod": operator.mod, "Max": max, "Min": min,
}  # fmt: skip


def number(expr: Any, known: Mapping[str, int]) -> int:
    """An expression of sizes as a number.

    known    {size: number}
    raises   KeyError for a size that is not known

    >>> number(tirx.Var("n", "int64") * 3, {"n": 2})
    6
    """
    if isinstance(expr, int | tirx.IntImm):
        return int(expr)
    kind = type(expr).__name__
    if kind in OPERATIONS:
        return OPERATIONS[kind](number(expr.a, known), number(expr.b, known))
    if kind == "Cast":
        return number(expr.value, known)
    return known[expr.name]


def shape_of(param: Any, known: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of a parameter of a function of loops, or of a Relax type."""
    return tuple(number(dim, known) for dim in param.shape)


def sizes_of(params: Sequence[Any], values: Sequence[Any]) -> dict[str, int]:
    """{dynamic size: number} of parameters, from the arrays that they take."""
    known: dict[str, int] = {}
    for param, value in zip(params, values, strict=False):
        shape = getattr(value, "shape", None)
        if shape is not None and hasattr(param, "shape"):
            learn(param.shape, shape, known)
    return known


def learn(dims: Sequence[Any], shape: Sequence[int], known: dict[str, int]) -> None:
    """Note the sizes that are alone in a shape."""
    for dim, size in zip(dims, shape, strict=True):
        if hasattr(dim, "name"):
            known.setdefault(dim.name, int(size))
