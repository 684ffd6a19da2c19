"""Arguments as Relay took them: numbers for all sides, pairs for both, texts that may be empty.

Operands that Relax takes as attributes: they have to be constants.

Tests: tests/relay/test_expr.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm.ir import GenericConst

from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.relay.base import operand
from tvmq.relay.expr import Call, Constant, Expr, TupleWrapper
from tvmq.relay.op import registry
from tvmq.relay.types import numbers


def call(name: str, *args: Any, **attrs: Any) -> Call:
    """An operator applied to expressions."""
    return Call(registry.get(name), [as_expr(arg) for arg in args], attrs)


def as_expr(value: Any) -> Expr:
    """An expression; several results count as their tuple."""
    return value.astuple() if isinstance(value, TupleWrapper) else operand(value)


def spread(value: Any, rank: int) -> tuple[int, ...]:
    """Numbers for each of `rank` dimensions; a single one holds for all.

    >>> spread(3, 2), spread((1, 2), 2)
    ((3, 3), (1, 2))
    """
    items = numbers(value)
    return items * rank if len(items) == 1 else items


def sides(padding: Any, rank: int) -> tuple[int, ...]:
    """Padding of all sides, first those before, then those behind.

    >>> sides(1, 2), sides((1, 2), 2), sides((1, 2, 3, 4), 2)
    ((1, 1, 1, 1), (1, 2, 1, 2), (1, 2, 3, 4))
    """
    amounts = spread(padding, rank)
    amounts = amounts * 2 if len(amounts) == rank else amounts
    if len(amounts) != 2 * rank:
        raise ModelError(f"relay: padding {amounts} of {rank} dimensions; give 1, {rank} or {2 * rank} numbers")
    return amounts


def text(value: Any) -> str | None:
    """A text, None where it is empty: Relay's way to leave a dtype or layout open."""
    return str(value) or None


def array(value: Any, what: str) -> np.ndarray:
    """The array of a constant in Relax; `what` says in the refusal which operand it is."""
    if not isinstance(value, GenericConst):
        raise UnsupportedOpError(f"relay, {what}: a value found at run time is not supported; make it a relay.const")
    return value.value.numpy()


def scalar(value: Any, what: str) -> Any:
    """The number of a constant in Relax that has one element."""
    return array(value, what).reshape(-1)[0].item()


def given_numbers(values: Any, what: str) -> tuple[int, ...]:
    """Whole numbers from a number, a sequence of them, or a constant expression.

    >>> from tvmq.relay.expr import const
    >>> given_numbers(const([1, 2]), "reshape, newshape"), given_numbers([3, 4], "")
    ((1, 2), (3, 4))
    """
    if isinstance(values, Constant):
        return tuple(int(v) for v in values.data.numpy().reshape(-1))
    if isinstance(values, Expr):
        raise UnsupportedOpError(f"relay, {what}: a value found at run time is not supported; give numbers")
    return numbers(values)
