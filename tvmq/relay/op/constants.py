"""Operands that Relax takes as attributes: they have to be constants."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm.ir import GenericConst

from tvmq.errors import UnsupportedOpError
from tvmq.relay.expr import Constant, Expr
from tvmq.relay.types import numbers


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
